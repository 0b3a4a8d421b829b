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
#include <span>
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
  AcquireAllReply acquire_all(std::span<const Claim> claims, Reading at, Notices& notices);
  RenewReply renew(const Claim& claim, Reading at, Notices& notices);
  AmendReply amend(const Claim& claim, Reading at, Notices& notices);
  WithdrawReply withdraw(const Claim& claim, WithdrawOptions options, Reading at, Notices& notices);
  BreakDone break_name(const std::string& name, BreakMode mode, Reading at, Notices& notices);
  NameView inspect(const std::string& name, Reading at) const;
  // Names after `cursor` that start with `prefix`, at most `limit`.
  Page list(const std::string& prefix, const std::string& cursor, std::size_t limit,
            Reading at) const;

  // Who marked this run done, if the mark stands.
  std::optional<OwnerId> done_by(const std::string& name, const std::string& run_id,
                                 Reading at) const;

  std::size_t size() const noexcept { return names_.size(); }  // names with any state
  std::size_t tombstones() const noexcept { return tombstones_.size(); }
  std::size_t runs_done() const noexcept { return runs_.size(); }

 private:
  // A hold, or what min_hold leaves of one. Ends by itself.
  struct Record {
    OwnerId owner{};
    Mode mode = Mode::exclusive;
    std::uint32_t permits = 1;
    std::uint32_t limit = 0;
    Fence fence = Fence::none;
    Fence floor = Fence::none;
    Instant granted_at{};
    Duration lock_delay{};
    Instant expires{};
    std::optional<Instant> min_end{};
    std::optional<Instant> max_end{};  // lock_delay included
    std::string value{};
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
    std::vector<Record> records{};  // by fence; compatible with each other
    std::deque<Place> queue{};
    Fence last = Fence::none;
    bool idle() const { return records.empty() && queue.empty(); }
  };
  struct Done {
    OwnerId owner{};
    Instant until{};
  };
  using RunKey = std::pair<std::string, std::string>;  // name, run id
  using Names = std::map<std::string, Name>;

  // Forgets what time has ended.
  static void drop_ended(Name& name, Instant now);
  // The same, and grants the head of the queue, and those behind it, as long as they fit.
  void settle(Name& name, Reading at, Notices& notices);
  // Grants as settle() does, but goes no further than `stop`.
  void serve_until(const OwnerId& stop, Name& name, Reading at, Notices& notices);
  static Record* find(Name& name, const OwnerId& owner);  // held by it, not released
  static bool fits(const Name& name, const Claim& claim);
  // Empty, or how the claim contradicts the way in which the name is used.
  static std::string why_contradicting(const Name& name, const Claim& claim);
  static Duration refresh(Record& record, Duration ttl, Instant now);
  Record& grant(Name& name, const Claim& claim, Reading at);
  Granted grant_in_full(Name& name, const Claim& claim, Reading at);
  void hand_off(Name& name, Reading at, Notices& notices);
  std::optional<AcquireAllReply> why_not_all(std::span<const Claim> claims, Instant now);
  static AcquireReply refuse(Name& name, const Claim& claim, Store::Queueing queueing, Instant now);
  static Busy busy_with(const Name& name, Instant now);
  bool finish_run(const Claim& claim, bool holds, Duration remember, Instant now);
  static void give_back(Name& name, const Record& record, bool keep_min_hold, Instant now);
  static Holder holder_view(const Record& record, Instant now);
  static NameView view(const std::string& key, const Name& name, Instant now);
  void entomb(const OwnerId& owner, Instant until);
  bool entombed(const OwnerId& owner, Instant now);
  const Done* find_done(const Claim& claim, Instant now);
  void forget_if_idle(Names::iterator entry);

  Names names_{};
  std::map<OwnerId, Instant> tombstones_{};
  std::set<std::pair<Instant, OwnerId>> tombstone_ends_{};
  std::map<RunKey, Done> runs_{};
  std::set<std::pair<Instant, RunKey>> run_ends_{};
  Fence floor_ = Fence::none;  // no name that was forgotten had a greater fence
};

}  // namespace holdfast
