// The rules of one name once more, as short as they can be said, to compare LockTable with. Shares
// no code with it on purpose. Times are milliseconds; owners are small numbers.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

namespace holdfast::property {

enum class Answer {
  granted,
  queued,
  busy,
  renewed,
  taken,
  broken,
  released,
  not_owner,
  amended,
  done,
  refused
};

// What an owner's claim says; a zero means "not set".
struct Wish {
  int owner = 0;
  bool shared = false;
  unsigned permits = 1, limit = 0;
  bool once = false;  // it means the one run that there is
  long ttl = 0, liveness = 0, min_hold = 0, max_hold = 0, delay = 0;
};

struct TinyModel {
  struct Record {
    Wish wish{};
    long granted = 0, expires = 0;
    bool broken = false, released = false;
    int grant = 0, floor = 0;  // counts grants
    int value = 0;
  };
  struct Place {
    Wish wish{};
    long beat = 0;
  };

  std::vector<Record> records{};
  std::vector<Place> queue{};
  std::map<int, long> tombs{};
  int done_by = 0;
  long done_until = 0;
  int grants = 0;
  std::vector<int> handed{};  // owners that were told, in order
  std::vector<int> hinted{};

  void end(long now) {
    std::erase_if(records, [&](const Record& r) { return now >= r.expires; });
    std::erase_if(queue, [&](const Place& p) { return now > p.beat + p.wish.liveness; });
  }
  bool done(const Wish& wish, long now) const { return wish.once && now < done_until; }
  bool entombed(int owner, long now) { return tombs.contains(owner) && now < tombs[owner]; }
  bool contradicts(const Wish& wish) const {
    for (const Record& r : records) {
      if (r.wish.limit != wish.limit) return true;
    }
    for (const Place& p : queue) {
      if (p.wish.limit != wish.limit) return true;
    }
    return false;
  }
  bool fits(const Wish& wish) const {
    unsigned taken = wish.permits;
    for (const Record& r : records) {
      if (r.wish.owner == wish.owner) return false;
      if (wish.limit == 0 && !(wish.shared && r.wish.shared)) return false;
      taken += r.wish.permits;
    }
    return wish.limit == 0 || taken <= wish.limit;
  }
  void leave(int owner) {
    std::erase_if(queue, [&](const Place& p) { return p.wish.owner == owner; });
  }
  Record& grant(const Wish& wish, long now) {
    leave(wish.owner);
    Record fresh{wish, now, 0, false, false, ++grants, grants, 0};
    for (const Record& r : records) {
      if (!r.released) fresh.floor = std::min(fresh.floor, r.grant);
    }
    return records.emplace_back(fresh);
  }
  static void refresh(Record& r, long ttl, long now) {
    const Wish& w = r.wish;
    long until = now + ttl + w.delay;
    if (w.max_hold != 0) until = std::min(until, r.granted + w.max_hold + w.delay);
    if (w.min_hold != 0) until = std::max(until, r.granted + w.min_hold);
    r.expires = until;
  }
  void pass_on(long now, int stop = -1) {
    while (!queue.empty() && queue.front().wish.owner != stop) {
      const Place head = queue.front();
      if (done(head.wish, now)) {
        hinted.push_back(head.wish.owner);
        queue.erase(queue.begin());
        continue;
      }
      if (!fits(head.wish)) return;
      Record& r = grant(head.wish, now);
      r.expires = head.beat + head.wish.liveness + head.wish.delay;
      if (head.wish.max_hold != 0)
        r.expires = std::min(r.expires, now + head.wish.max_hold + head.wish.delay);
      handed.push_back(head.wish.owner);
    }
  }
  Record* ours(int owner) {
    for (Record& r : records) {
      if (r.wish.owner == owner && !r.released) return &r;
    }
    return nullptr;
  }

  Answer acquire(const Wish& wish, bool queueing, long now) {
    if (entombed(wish.owner, now)) return Answer::busy;
    end(now);
    if (Record* r = ours(wish.owner); r && !r->broken)
      return refresh(*r, wish.ttl, now), Answer::granted;
    if (done(wish, now)) return leave(wish.owner), pass_on(now), Answer::done;
    if (contradicts(wish)) return Answer::refused;
    pass_on(now, wish.owner);
    if ((queue.empty() || queue.front().wish.owner == wish.owner) && fits(wish)) {
      refresh(grant(wish, now), wish.ttl, now);
      return pass_on(now), Answer::granted;
    }
    if (!queueing) return Answer::busy;
    for (Place& place : queue) {
      if (place.wish.owner == wish.owner) return place.beat = now, Answer::queued;
    }
    queue.push_back({wish, now});
    return Answer::queued;
  }
  // Whether acquire_all() would have this one: granted, busy or refused. Changes nothing.
  Answer could(const Wish& wish, long now) {
    const Record* r = ours(wish.owner);
    if (contradicts(wish)) return Answer::refused;
    if (entombed(wish.owner, now)) return Answer::busy;
    return (r && !r->broken) || (queue.empty() && fits(wish)) ? Answer::granted : Answer::busy;
  }
  Answer renew(const Wish& wish, long now) {
    end(now);
    Answer answer = Answer::taken;
    if (Record* r = ours(wish.owner)) {
      answer = r->broken ? Answer::broken : Answer::renewed;
      if (!r->broken) refresh(*r, wish.ttl, now);
    }
    return pass_on(now), answer;
  }
  Answer amend(const Wish& wish, int value, long now) {
    end(now);
    Answer answer = Answer::taken;
    if (Record* r = ours(wish.owner)) {
      answer = r->broken                        ? Answer::broken
               : r->wish.shared && !wish.shared ? Answer::refused
                                                : Answer::amended;
      if (answer == Answer::amended) r->wish.shared = wish.shared, r->value = value;
    }
    return pass_on(now), answer;
  }
  Answer withdraw(const Wish& wish, bool keep, bool tomb, long remember, long now) {
    if (tomb) tombs[wish.owner] = std::max(tombs[wish.owner], now + wish.ttl);
    end(now);
    bool had = std::erase_if(queue, [&](auto& p) { return p.wish.owner == wish.owner; }) != 0;
    Record* r = ours(wish.owner);
    if (remember != 0 && wish.once && now >= done_until && r) {
      done_by = wish.owner;
      done_until = now + remember;
    }
    had = had || r || (remember != 0 && done(wish, now) && done_by == wish.owner);
    if (r) {
      const long min_end = r->granted + r->wish.min_hold;
      r->released = keep && r->wish.min_hold != 0 && min_end > now;
      if (r->released) r->expires = min_end;
      if (!r->released) records.erase(records.begin() + (r - records.data()));
    }
    pass_on(now);
    return had ? Answer::released : Answer::not_owner;
  }
  std::size_t break_it(bool at_once, long now) {
    end(now);
    const std::size_t hit = records.size();
    std::erase_if(records, [&](const Record& r) { return at_once || r.released; });
    for (Record& r : records) r.broken = true;
    return pass_on(now), hit;
  }
};

}  // namespace holdfast::property
