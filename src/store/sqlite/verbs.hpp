// What a verb does to the tables: the rules of docs/reference/formats.md, in SQL's one atomic
// step. Every call runs inside a write transaction that the caller opened and will commit.
#pragma once

#include "store/sqlite/name_table.hpp"

#include <holdfast/store.hpp>

namespace holdfast::sqlite {

// Thrown when a step turns out to hand out a fence in a transaction that would be committed
// without flushing it to the disk. The caller rolls back and starts again with Flush::yes.
struct NeedsFlush {};

// A fence must survive a power loss. Nothing else has to: a power loss is a reboot, and a reboot
// ends every lease, wait and tombstone anyway.
enum class Flush : std::uint8_t { no, yes };

// What a step needs to know and what it leaves behind for the caller.
struct Step {
  Instant now{};
  std::int64_t unix_us = 0;
  Flush flush = Flush::yes;
  bool woke = false;  // there is a new row in table `wake`
};

class Verbs {
 public:
  explicit Verbs(NameTable& table) : table_(table) {}

  // The answer if it is Busy without any doubt and without writing. Needs no transaction.
  std::optional<Busy> glance(const Claim& claim, Instant now);

  AcquireReply acquire(const Claim& claim, Store::Queueing queueing, Step& step);
  RenewReply renew(const Claim& claim, Step& step);
  WithdrawReply withdraw(const Claim& claim, WithdrawOptions options, Step& step);
  BreakDone break_name(const std::string& name, BreakMode mode, Step& step);

 private:
  void grant(const std::string& name, LeaseRow& row, const LeaseRow& hold, Step& step);
  // Hands a free name to the first living waiter, if there is one.
  void hand_off(const std::string& name, LeaseRow& row, Step& step);
  AcquireReply enqueue(const Claim& claim, const LeaseRow& row, Step& step);
  void free(LeaseRow& row, Step& step);

  NameTable& table_;
};

}  // namespace holdfast::sqlite
