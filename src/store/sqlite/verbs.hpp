// What a verb does to the tables: the rules of docs/internals/store-rules.md, in SQL's one atomic
// step. Every call runs inside a write transaction that the caller opened and will commit.
#pragma once

#include "store/sqlite/name_table.hpp"

#include <holdfast/store.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::sqlite {

// Thrown when a step turns out to hand out a fence, or a done mark, in a transaction that would be
// committed without flushing it to the disk. The caller rolls back and starts again with
// Flush::yes.
struct NeedsFlush {};

// A fence and a done mark must survive a power loss. Nothing else has to: a power loss is a reboot,
// and a reboot ends every lease, wait and tombstone anyway.
enum class Flush : std::uint8_t { no, yes };

// What a step needs to know and what it leaves behind for the caller.
struct Step {
  Instant now{};
  std::int64_t unix_us = 0;
  Flush flush = Flush::yes;
  bool woke = false;      // there is a new row in table `wake`
  bool finished = false;  // a run was marked done
};

class Verbs {
 public:
  explicit Verbs(NameTable& table) : table_(table) {}

  // The answer if it is Busy without any doubt and without writing. Needs no transaction.
  std::optional<Busy> glance(const Claim& claim, Instant now);

  AcquireReply acquire(const Claim& claim, Store::Queueing queueing, Step& step);
  AcquireAllReply acquire_all(std::span<const Claim> claims, Step& step);
  RenewReply renew(const Claim& claim, Step& step);
  AmendReply amend(const Claim& claim, Step& step);
  WithdrawReply withdraw(const Claim& claim, WithdrawOptions options, Step& step);
  BreakDone break_name(const std::string& name, BreakMode mode, Step& step);

 private:
  using Head = std::optional<WaiterRow>;

  // Grants the head of the queue, and those behind it, as long as they fit; not further than
  // `stop`. Returns who waits first then.
  Head serve(NameState& name, Step& step);
  Head serve(NameState& name, Head head, const OwnerId& stop, Step& step);
  void hand_off(NameState& name, const WaiterRow& head, Step& step);
  // Writes `hold` with the next fence of the name.
  Granted grant(NameState& name, LeaseRow hold, Step& step);
  Granted grant_in_full(NameState& name, const Claim& claim, Step& step);
  Granted refresh_held(LeaseRow& row, Duration ttl, Step& step);
  std::optional<AcquireAllReply> why_not_all(std::span<const Claim> claims,
                                             std::vector<NameState>& names,
                                             const std::vector<Head>& heads, Step& step);
  AcquireReply enqueue(const Claim& claim, const NameState& name, Step& step);
  // Says whether the owner waited; a place that it had lost by time does not count.
  bool leave_queue(const Claim& claim, Step& step);
  bool finish_run(const Claim& claim, bool holds, Duration remember, Step& step);
  bool is_done(const Claim& claim, Step& step);
  void free(NameState& name, LeaseRow row, Step& step);
  void tell(const WakeRow& news, Step& step);

  NameTable& table_;
};

}  // namespace holdfast::sqlite
