// The rules of one name once more, as short as they can be said, to compare LockTable with. Shares
// no code with it on purpose. Times are milliseconds; owners are small numbers.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace holdfast::property {

enum class Answer { granted, queued, busy, renewed, taken, broken, released, not_owner };

// What an owner's claim says; a zero means "not set".
struct Wish {
  int owner = 0;
  long ttl = 0, liveness = 0, min_hold = 0, max_hold = 0, delay = 0;
};

struct TinyModel {
  struct Record {
    Wish wish{};
    long granted = 0, expires = 0;
    bool broken = false, released = false;
    int grant = 0;  // counts grants
  };
  struct Place {
    Wish wish{};
    long beat = 0;
  };

  std::optional<Record> record{};
  std::vector<Place> queue{};
  std::map<int, long> tombs{};
  int grants = 0;
  std::vector<int> handed{};  // owners that were told, in order

  void end(long now) {
    if (record && now >= record->expires) record.reset();
    std::erase_if(queue, [&](const Place& p) { return now > p.beat + p.wish.liveness; });
  }
  void grant(const Wish& wish, long now, long expires) {
    std::erase_if(queue, [&](const Place& p) { return p.wish.owner == wish.owner; });
    record = Record{wish, now, expires, false, false, ++grants};
  }
  void refresh(long ttl, long now) {
    const Wish& w = record->wish;
    long until = now + ttl + w.delay;
    if (w.max_hold != 0) until = std::min(until, record->granted + w.max_hold + w.delay);
    if (w.min_hold != 0) until = std::max(until, record->granted + w.min_hold);
    record->expires = until;
  }
  void pass_on(long now) {
    if (record || queue.empty()) return;
    const Place head = queue.front();
    long until = head.beat + head.wish.liveness + head.wish.delay;
    if (head.wish.max_hold != 0)
      until = std::min(until, now + head.wish.max_hold + head.wish.delay);
    grant(head.wish, now, until);
    handed.push_back(head.wish.owner);
  }
  bool ours(int owner) const { return record && !record->released && record->wish.owner == owner; }

  Answer acquire(const Wish& wish, bool queueing, long now) {
    if (tombs.contains(wish.owner) && now < tombs[wish.owner]) return Answer::busy;
    end(now);
    if (ours(wish.owner) && !record->broken) return refresh(wish.ttl, now), Answer::granted;
    if (!record && (queue.empty() || queue.front().wish.owner == wish.owner)) {
      grant(wish, now, 0);
      return refresh(wish.ttl, now), Answer::granted;
    }
    pass_on(now);
    if (!queueing) return Answer::busy;
    for (Place& place : queue) {
      if (place.wish.owner == wish.owner) return place.beat = now, Answer::queued;
    }
    queue.push_back({wish, now});
    return Answer::queued;
  }
  Answer renew(const Wish& wish, long now) {
    end(now);
    if (!ours(wish.owner)) return pass_on(now), Answer::taken;
    if (record->broken) return Answer::broken;
    return refresh(wish.ttl, now), Answer::renewed;
  }
  Answer withdraw(const Wish& wish, bool keep, bool tomb, long now) {
    if (tomb) tombs[wish.owner] = std::max(tombs[wish.owner], now + wish.ttl);
    end(now);
    bool had = std::erase_if(queue, [&](auto& p) { return p.wish.owner == wish.owner; }) != 0;
    if (ours(wish.owner)) {
      had = true;
      const long min_end = record->granted + record->wish.min_hold;
      record->released = keep && record->wish.min_hold != 0 && min_end > now;
      if (record->released) record->expires = min_end;
      if (!record->released) record.reset();
    }
    pass_on(now);
    return had ? Answer::released : Answer::not_owner;
  }
  bool break_it(bool at_once, long now) {
    end(now);
    const bool hit = record.has_value();
    if (hit && (at_once || record->released)) record.reset();
    if (hit && record) record->broken = true;
    return pass_on(now), hit;
  }
};

}  // namespace holdfast::property
