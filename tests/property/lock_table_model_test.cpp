// LockTable, the model that every store is compared with, against a model of its own.
#include "store/memory/lock_table.hpp"

#include "tests/property/command.hpp"
#include "tests/property/tiny_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <variant>

namespace holdfast::property {
namespace {

using std::chrono::milliseconds;

// By number modulo 6: 1 has min_hold, 2 max_hold, 3 lock_delay, 4 all of them, 5 a short liveness.
Wish wish_of(const Command& command) {
  const Use use = use_of(command.owner);
  Wish wish{.owner = command.name * 100 + command.owner,
            .shared = use.shared,
            .permits = use.permits,
            .limit = use.limit,
            .once = use.once,
            .ttl = 1000,
            .liveness = 400};
  const int kind = command.owner % 6;
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
  put_use(claim, command.owner);
  claim.ttl = milliseconds{wish.ttl};
  claim.liveness = milliseconds{wish.liveness};
  claim.min_hold = milliseconds{wish.min_hold};
  claim.max_hold = milliseconds{wish.max_hold};
  claim.lock_delay = milliseconds{wish.delay};
  return claim;
}

// How long a run is remembered.
long memory_of(const Command& command) { return command.flag ? 5000 : 600; }

Answer answer_of(const Granted&) { return Answer::granted; }
Answer answer_of(const Queued&) { return Answer::queued; }
Answer answer_of(const Busy&) { return Answer::busy; }
Answer answer_of(const AlreadyDone&) { return Answer::done; }
Answer answer_of(const Failed& failed) {
  RC_ASSERT(failed.code == make_error_code(errc::invalid_options));
  return Answer::refused;
}
Answer answer_of(const Renewed&) { return Answer::renewed; }
Answer answer_of(const Gone& gone) {
  return gone.reason == GoneReason::broken ? Answer::broken : Answer::taken;
}
Answer answer_of(const Amended&) { return Answer::amended; }
Answer answer_of(const Released&) { return Answer::released; }
Answer answer_of(const NotOwner&) { return Answer::not_owner; }
Answer answer_of(const AllGranted&) { return Answer::granted; }
Answer answer_of(const AllBusy&) { return Answer::busy; }
template <class... Kinds>
Answer answer_of(const std::variant<Kinds...>& reply) {
  return std::visit([](const auto& kind) { return answer_of(kind); }, reply);
}

class Pair {
 public:
  void run(const Command& command) {
    now_ += command.pause_ms;
    if (command.verb == Command::Verb::both) {
      run_both(command.owner);
      compare(0);
      compare(1);
      return;
    }
    const Answer seen = answer_of_table(command);
    RC_ASSERT(seen == answer_of_tiny(command, tiny(command.name)));
    compare(command.name);
  }

 private:
  using Verb = Command::Verb;

  static WithdrawOptions options_of(const Command& command) {
    return {.keep_min_hold = command.verb != Verb::withdraw,
            .tombstone = command.verb != Verb::finish && command.flag,
            .remember = milliseconds{command.verb == Verb::finish ? memory_of(command) : 0}};
  }
  static Mode amended_mode(const Command& command) {
    const bool shared = use_of(command.owner).shared != command.flag;
    return shared || use_of(command.owner).limit != 0 ? Mode::shared : Mode::exclusive;
  }

  Answer answer_of_table(const Command& command) {
    Claim claim = claim_of(command);
    switch (command.verb) {
      case Verb::acquire:
        return answer_of(table_.acquire(claim, Store::Queueing::no, at(), notices_));
      case Verb::queue:
        return answer_of(table_.acquire(claim, Store::Queueing::yes, at(), notices_));
      case Verb::renew:
        return answer_of(table_.renew(claim, at(), notices_));
      case Verb::amend:
        claim.mode = amended_mode(command);
        claim.value = std::to_string(++amends_);
        return answer_of(table_.amend(claim, at(), notices_));
      case Verb::break_it: {
        const auto mode = command.flag ? BreakMode::now : BreakMode::ask_holder;
        hit_ = table_.break_name(claim.name, mode, at(), notices_).holders.size();
        return Answer::released;
      }
      default:
        return answer_of(table_.withdraw(claim, options_of(command), at(), notices_));
    }
  }
  Answer answer_of_tiny(const Command& command, TinyModel& tiny) {
    Wish wish = wish_of(command);
    switch (command.verb) {
      case Verb::acquire:
      case Verb::queue:
        return tiny.acquire(wish, command.verb == Verb::queue, now_);
      case Verb::renew:
        return tiny.renew(wish, now_);
      case Verb::amend:
        wish.shared = amended_mode(command) == Mode::shared;
        return tiny.amend(wish, amends_, now_);
      case Verb::break_it:
        RC_ASSERT(hit_ == tiny.break_it(command.flag, now_));
        return Answer::released;
      default: {
        const WithdrawOptions options = options_of(command);
        return tiny.withdraw(wish, options.keep_min_hold, options.tombstone,
                             options.remember / milliseconds{1}, now_);
      }
    }
  }

  void run_both(int owner) {
    std::vector<Claim> claims;
    Answer wanted = Answer::granted;
    for (int name = 0; name < 2; ++name) {
      claims.push_back(claim_of({.name = name, .owner = owner}));
      tiny(name).end(now_);
      tiny(name).pass_on(now_);
    }
    for (int name = 0; name < 2 && wanted == Answer::granted; ++name) {
      wanted = tiny(name).could(wish_of({.name = name, .owner = owner}), now_);
    }
    RC_ASSERT(answer_of(table_.acquire_all(claims, at(), notices_)) == wanted);
    for (int name = 0; name < 2 && wanted == Answer::granted; ++name) {
      const Wish wish = wish_of({.name = name, .owner = owner});
      TinyModel::Record* held = tiny(name).ours(wish.owner);
      TinyModel::refresh(held ? *held : tiny(name).grant(wish, now_), wish.ttl, now_);
    }
  }

  void compare(int number) {
    TinyModel& model = tiny(number);
    const NameView view = table_.inspect(std::string(1, static_cast<char>('a' + number)), at());
    std::vector<TinyModel::Record> living;
    std::ranges::copy_if(model.records, std::back_inserter(living),
                         [&](const auto& record) { return now_ < record.expires; });
    RC_ASSERT(view.holders.size() == living.size());
    for (std::size_t i = 0; i < living.size(); ++i) {
      compare_holder(number, living[i], view.holders[i]);
    }
    require_compatible(view);
    std::vector<OwnerId> waiting;
    for (const auto& place : model.queue) {
      if (now_ <= place.beat + place.wish.liveness) {
        waiting.push_back(owner_id(number, place.wish.owner % 100));
      }
    }
    std::vector<OwnerId> seen;
    for (const Waiter& waiter : view.waiters) {
      seen.push_back(waiter.owner);
    }
    RC_ASSERT(seen == waiting);
    compare_notices();
  }

  void compare_holder(int name, const TinyModel::Record& record, const Holder& holder) {
    RC_ASSERT(holder.owner == owner_id(name, record.wish.owner % 100));
    RC_ASSERT(holder.mode == (record.wish.shared ? Mode::shared : Mode::exclusive));
    RC_ASSERT(holder.permits == record.wish.permits);
    RC_ASSERT(holder.limit == record.wish.limit);
    RC_ASSERT(holder.ttl_left == milliseconds{record.expires - now_});
    RC_ASSERT(holder.broken == record.broken);
    RC_ASSERT(holder.released == record.released);
    RC_ASSERT(record.value == 0 || holder.value == std::to_string(record.value));
    compare_fence(name, record.grant, holder.fence);
  }

  // What no rule may break, said without the rules.
  static void require_compatible(const NameView& view) {
    std::uint64_t permits = 0;
    for (const Holder& holder : view.holders) {
      RC_ASSERT(holder.limit == view.holders.front().limit);
      RC_ASSERT(holder.mode == Mode::shared || view.holders.size() == 1);
      permits += holder.permits;
      RC_ASSERT(holder.limit == 0 || permits <= holder.limit);
    }
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

  void compare_notices() {
    std::vector<OwnerId> told;
    std::vector<OwnerId> hinted;
    for (const StoreEvent& notice : notices_) {
      if (const auto* handed = std::get_if<HandedOff>(&notice)) {
        told.push_back(handed->owner);
      } else if (const auto* hint = std::get_if<MaybeFree>(&notice)) {
        hinted.push_back(hint->owner);
      }
    }
    notices_.clear();
    std::vector<OwnerId> wanted;
    std::vector<OwnerId> wanted_hints;
    for (int name = 0; name < 2; ++name) {
      for (const int owner : std::exchange(tiny(name).handed, {})) {
        wanted.push_back(owner_id(name, owner % 100));
      }
      for (const int owner : std::exchange(tiny(name).hinted, {})) {
        wanted_hints.push_back(owner_id(name, owner % 100));
      }
    }
    RC_ASSERT(told == wanted);
    RC_ASSERT(hinted == wanted_hints);
  }

  LockTable::Reading at() const { return {Instant{milliseconds{now_}}, 0}; }
  TinyModel& tiny(int name) { return tiny_.at(static_cast<std::size_t>(name)); }

  long now_ = 1000;
  int amends_ = 0;
  std::size_t hit_ = 0;
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
      if (command.verb == Command::Verb::withdraw || command.verb == Command::Verb::finish) {
        const bool finish = command.verb == Command::Verb::finish;
        table.withdraw(claim,
                       {.keep_min_hold = false,
                        .tombstone = command.flag,
                        .remember = milliseconds{finish ? memory_of(command) : 0}},
                       at(), notices);
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
    RC_ASSERT(table.runs_done() == 0U);
  }));
}

}  // namespace
}  // namespace holdfast::property
