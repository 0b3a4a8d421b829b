// The state of one store as a pure machine: names, records, queues, tombstones and fences. It is
// told the time and draws nothing by itself. It is the heart of the memory: store, of the
// simulator's model stores, and the model that the other stores are compared with. Copyable: a
// copy is a replica.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/store.hpp>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace holdfast {

class LockTable {
 public:
  // The store's clock: `now` judges expiry; `unix_us` only lifts fences.
  struct Reading {
    Instant now{};
    std::int64_t unix_us = 0;
  };
  // What the step has to tell to others, in order.
  using Notices = std::vector<StoreEvent>;

  // Each call is one atomic step; docs/internals/store-rules.md has the rules.
  AcquireReply acquire(const Claim& claim, Store::Queueing queueing, Reading at, Notices& notices);
  RenewReply renew(const Claim& claim, Reading at, Notices& notices);
  WithdrawReply withdraw(const Claim& claim, WithdrawOptions options, Reading at, Notices& notices);
  BreakDone break_name(const std::string& name, BreakMode mode, Reading at, Notices& notices);
  NameView inspect(const std::string& name, Reading at) const;
  // Names after `cursor` that start with `prefix`, at most `limit`.
  Page list(const std::string& prefix, const std::string& cursor, std::size_t limit,
            Reading at) const;

  std::size_t size() const noexcept { return names_.size(); }  // names with any state
  std::size_t tombstones() const noexcept { return tombstones_.size(); }

 private:
  struct Record {
    OwnerId owner{};
    Fence fence = Fence::none;
    Instant granted_at{};
    Duration lock_delay{};
    Instant expires{};
    std::optional<Instant> min_end{};
    std::optional<Instant> max_end{};  // lock_delay included
    Who who{};
    bool broken = false;
    bool released = false;
  };
  struct Place {
    Claim claim{};
    Instant joined_at{};
    Instant last_beat{};
    bool alive(Instant now) const { return now <= last_beat + claim.liveness; }
  };
  struct Name {
    std::optional<Record> record{};
    std::deque<Place> queue{};
    Fence last = Fence::none;
  };

  // Forgets what time has ended.
  static void drop_ended(Name& name, Instant now);
  // The same, and hands a free name to the head of its queue.
  void settle(Name& name, Reading at, Notices& notices);
  static bool owns(const Name& name, const OwnerId& owner);
  Duration refresh(Record& record, Duration ttl, Instant now);
  Record& grant(Name& name, const Claim& claim, Reading at);
  void hand_off(Name& name, Reading at, Notices& notices);
  static AcquireReply refuse(Name& name, const Claim& claim, Store::Queueing queueing, Instant now);
  static Holder holder_view(const Record& record, Instant now);
  static NameView view(const std::string& key, const Name& name, Instant now);
  void entomb(const OwnerId& owner, Instant until);
  bool entombed(const OwnerId& owner, Instant now);
  void forget_if_idle(std::map<std::string, Name>::iterator entry);

  std::map<std::string, Name> names_{};
  std::map<OwnerId, Instant> tombstones_{};
  std::set<std::pair<Instant, OwnerId>> tombstone_ends_{};
  Fence floor_ = Fence::none;  // no name that was forgotten had a greater fence
};

}  // namespace holdfast
