// LockTable, the model that every store is compared with, against a model of its own.
#include "store/memory/lock_table.hpp"

#include "tests/property/command.hpp"
#include "tests/property/tiny_model.hpp"

#include <gtest/gtest.h>

#include <array>

namespace holdfast::property {
namespace {

using std::chrono::milliseconds;

// Owner 1 has min_hold, 2 max_hold, 3 lock_delay, 4 all of them, 5 a short liveness.
Wish wish_of(const Command& command) {
  Wish wish{command.name * 100 + command.owner, 1000, 400, 0, 0, 0};
  const int kind = command.owner;
  wish.min_hold = kind == 1 || kind == 4 ? 700 : 0;
  wish.max_hold = kind == 2 || kind == 4 ? 1500 : 0;
  wish.delay = kind == 3 || kind == 4 ? 300 : 0;
  wish.liveness = kind == 5 ? 100 : 400;
  return wish;
}

Claim claim_of(const Command& command) {
  const Wish wish = wish_of(command);
  Claim claim;
  claim.name = std::string(1, static_cast<char>('a' + command.name));
  claim.owner = owner_id(command.name, command.owner);
  claim.ttl = milliseconds{wish.ttl};
  claim.liveness = milliseconds{wish.liveness};
  claim.min_hold = milliseconds{wish.min_hold};
  claim.max_hold = milliseconds{wish.max_hold};
  claim.lock_delay = milliseconds{wish.delay};
  return claim;
}

Answer answer_of(const AcquireReply& reply) {
  if (std::holds_alternative<Granted>(reply)) return Answer::granted;
  return std::holds_alternative<Queued>(reply) ? Answer::queued : Answer::busy;
}
Answer answer_of(const RenewReply& reply) {
  if (std::holds_alternative<Renewed>(reply)) return Answer::renewed;
  return std::get<Gone>(reply).reason == GoneReason::broken ? Answer::broken : Answer::taken;
}
Answer answer_of(const WithdrawReply& reply) {
  return std::holds_alternative<Released>(reply) ? Answer::released : Answer::not_owner;
}

class Pair {
 public:
  void run(const Command& command) {
    now_ += command.pause_ms;
    const Claim claim = claim_of(command);
    const Wish wish = wish_of(command);
    TinyModel& tiny = tiny_.at(static_cast<std::size_t>(command.name));
    const auto at = LockTable::Reading{Instant{milliseconds{now_}}, 0};
    using Verb = Command::Verb;
    switch (command.verb) {
      case Verb::acquire:
      case Verb::queue: {
        const bool queueing = command.verb == Verb::queue;
        const auto how = queueing ? Store::Queueing::yes : Store::Queueing::no;
        const AcquireReply reply = table_.acquire(claim, how, at, notices_);
        RC_ASSERT(answer_of(reply) == tiny.acquire(wish, queueing, now_));
        break;
      }
      case Verb::renew:
        RC_ASSERT(answer_of(table_.renew(claim, at, notices_)) == tiny.renew(wish, now_));
        break;
      case Verb::release:
      case Verb::withdraw: {
        const WithdrawOptions options{.keep_min_hold = command.verb == Verb::release,
                                      .tombstone = command.flag};
        RC_ASSERT(answer_of(table_.withdraw(claim, options, at, notices_)) ==
                  tiny.withdraw(wish, options.keep_min_hold, options.tombstone, now_));
        break;
      }
      case Verb::break_it: {
        const auto mode = command.flag ? BreakMode::now : BreakMode::ask_holder;
        const BreakDone done = table_.break_name(claim.name, mode, at, notices_);
        RC_ASSERT(done.holders.empty() != tiny.break_it(command.flag, now_));
        break;
      }
    }
    compare(command, claim.name, tiny, at);
  }

 private:
  void compare(const Command& command, const std::string& name, TinyModel& tiny,
               LockTable::Reading at) {
    const NameView view = table_.inspect(name, at);
    const bool held = tiny.record && now_ < tiny.record->expires;
    RC_ASSERT(view.holders.empty() != held);
    if (held) {
      const Holder& holder = view.holders.front();
      RC_ASSERT(holder.owner == owner_id(command.name, tiny.record->wish.owner % 100));
      RC_ASSERT(holder.ttl_left == milliseconds{tiny.record->expires - now_});
      RC_ASSERT(holder.broken == tiny.record->broken);
      RC_ASSERT(holder.released == tiny.record->released);
      compare_fence(command.name, tiny.record->grant, holder.fence);
    }
    std::vector<OwnerId> waiting;
    for (const auto& place : tiny.queue) {
      if (now_ <= place.beat + place.wish.liveness) {
        waiting.push_back(owner_id(command.name, place.wish.owner % 100));
      }
    }
    std::vector<OwnerId> seen;
    for (const Waiter& waiter : view.waiters) {
      seen.push_back(waiter.owner);
    }
    RC_ASSERT(seen == waiting);
    compare_notices(command, tiny);
  }

  // One fence a grant, and a later grant has a greater one.
  void compare_fence(int name, int grant, Fence fence) {
    auto& fences = fences_.at(static_cast<std::size_t>(name));
    const auto known = fences.find(grant);
    if (known != fences.end()) {
      RC_ASSERT(known->second == fence);
      return;
    }
    RC_ASSERT((fences.empty() || fences.rbegin()->second < fence));
    fences.emplace(grant, fence);
  }

  void compare_notices(const Command& command, TinyModel& tiny) {
    std::vector<OwnerId> told;
    for (const StoreEvent& notice : notices_) {
      if (const auto* handed = std::get_if<HandedOff>(&notice)) {
        told.push_back(handed->owner);
      }
    }
    notices_.clear();
    std::vector<OwnerId> wanted;
    for (const int owner : tiny.handed) {
      wanted.push_back(owner_id(command.name, owner % 100));
    }
    tiny.handed.clear();
    RC_ASSERT(told == wanted);
  }

  long now_ = 1000;
  LockTable table_{};
  LockTable::Notices notices_{};
  std::array<TinyModel, 2> tiny_{};
  std::array<std::map<int, Fence>, 2> fences_{};
};

TEST(LockTableModel, AnswersAsTheTinyModel) {
  EXPECT_TRUE(rc::check("random commands with pauses", [] {
    Pair pair;
    for (const Command& command : *commands(1200)) {
      pair.run(command);
    }
  }));
}

TEST(LockTableModel, KeepsNothingOfWhatIsOver) {
  EXPECT_TRUE(rc::check("everything ends", [] {
    LockTable table;
    LockTable::Notices notices;
    long now = 1000;
    const auto at = [&now] { return LockTable::Reading{Instant{milliseconds{now}}, 0}; };
    for (const Command& command : *commands(200)) {
      now += command.pause_ms;
      const Claim claim = claim_of(command);
      const auto how = command.flag ? Store::Queueing::yes : Store::Queueing::no;
      table.acquire(claim, how, at(), notices);
      if (command.verb == Command::Verb::withdraw) {
        table.withdraw(claim, {.keep_min_hold = false, .tombstone = command.flag}, at(), notices);
      }
    }
    now += 10'000;
    RC_ASSERT(table.list("", "", 10, at()).names.empty());
    const Command stranger{.name = 1, .owner = 0};
    for (const char* name : {"a", "b"}) {
      Claim claim = claim_of(stranger);
      claim.name = name;
      table.renew(claim, at(), notices);
    }
    table.acquire(claim_of(stranger), Store::Queueing::no, at(), notices);
    RC_ASSERT(table.size() == 1U);
    RC_ASSERT(table.tombstones() == 0U);
  }));
}

}  // namespace
}  // namespace holdfast::property
