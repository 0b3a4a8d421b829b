// Random conversations without pauses: every store answers as LockTable does, and tells the same.
#include "store/memory/lock_table.hpp"
#include "tests/conformance/store_test.hpp"
#include "tests/property/command.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace holdfast::conformance {
namespace {

using property::Command;

// Long enough that nothing ends by time while the test runs.
Claim claim_of(const Command& command) {
  Claim claim;
  claim.name = std::string(1, static_cast<char>('a' + command.name));
  claim.owner = property::owner_id(command.name, command.owner);
  claim.ttl = 100s;
  claim.liveness = 100s;
  claim.min_hold = command.owner == 1 ? 90s : 0s;
  claim.max_hold = command.owner == 2 ? 95s : 0s;
  claim.lock_delay = command.owner == 3 ? 20s : 0s;
  claim.who = {"host", command.owner, "note"};
  return claim;
}

class Comparison {
 public:
  explicit Comparison(std::unique_ptr<Place> place) : place_(std::move(place)) {}

  void run(const Command& command) {
    const Claim claim = claim_of(command);
    const LockTable::Reading at{place_->lane().now(), 0};
    using Verb = Command::Verb;
    switch (command.verb) {
      case Verb::acquire:
      case Verb::queue: {
        const auto how = command.verb == Verb::queue ? Store::Queueing::yes : Store::Queueing::no;
        same(table_.acquire(claim, how, at, notices_), speaker_.acquire(claim, how));
        break;
      }
      case Verb::renew: {
        const RenewReply wanted = table_.renew(claim, at, notices_);
        const RenewReply seen = speaker_.renew(claim);
        same(wanted, seen);
        if (const auto* gone = std::get_if<Gone>(&wanted)) {
          RC_ASSERT(std::get<Gone>(seen).reason == gone->reason);
        }
        break;
      }
      case Verb::release:
      case Verb::withdraw: {
        const WithdrawOptions options{.keep_min_hold = command.verb == Verb::release,
                                      .tombstone = command.flag};
        same(table_.withdraw(claim, options, at, notices_), speaker_.withdraw(claim, options));
        break;
      }
      case Verb::break_it: {
        const auto mode = command.flag ? BreakMode::now : BreakMode::ask_holder;
        const BreakDone wanted = table_.break_name(claim.name, mode, at, notices_);
        same_holders(command.name, wanted.holders, speaker_.break_name(claim.name, mode).holders);
        break;
      }
    }
    const NameView wanted = table_.inspect(claim.name, at);
    const NameView seen = speaker_.inspect(claim.name);
    same_holders(command.name, wanted.holders, seen.holders);
    RC_ASSERT(owners(seen.waiters) == owners(wanted.waiters));
  }

  // Hand-offs may be told a little later than the answers, and not at all to who has left.
  void compare_what_was_told() {
    for (const StoreEvent& notice : notices_) {
      const auto* handed = std::get_if<HandedOff>(&notice);
      if (handed != nullptr && still_holds(*handed)) {
        speaker_.await_hand_off(handed->owner);
      }
    }
    const auto told = [](const auto& events) {
      return std::ranges::count_if(
          events, [](const auto& event) { return std::holds_alternative<HandedOff>(event); });
    };
    RC_ASSERT(told(speaker_.heard()) <= told(notices_));
  }

 private:
  bool still_holds(const HandedOff& handed) const {
    const LockTable::Reading at{place_->lane().now(), 0};
    return std::ranges::any_of(std::array{"a", "b"}, [&](const char* name) {
      const NameView view = table_.inspect(name, at);
      return !view.holders.empty() && view.holders.front().fence == handed.fence &&
             view.holders.front().owner == handed.owner && !view.holders.front().released;
    });
  }
  template <class Reply>
  static void same(const Reply& wanted, const Reply& seen) {
    RC_ASSERT(wanted.index() == seen.index());
  }
  void same_holders(int name, const std::vector<Holder>& wanted, const std::vector<Holder>& seen) {
    RC_ASSERT(wanted.size() == seen.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      RC_ASSERT(seen[i].owner == wanted[i].owner);
      RC_ASSERT(seen[i].who == wanted[i].who);
      RC_ASSERT(seen[i].released == wanted[i].released);
      RC_ASSERT((seen[i].released || seen[i].broken == wanted[i].broken));
      same_fence(name, wanted[i].fence, seen[i].fence);
    }
  }
  // The numbers differ; that each is of one grant, and that they rise, does not.
  void same_fence(int name, Fence wanted, Fence seen) {
    auto& pairs = fences_.at(static_cast<std::size_t>(name));
    const auto known = pairs.find(wanted);
    if (known == pairs.end()) {
      RC_ASSERT((pairs.empty() || pairs.rbegin()->second < seen));
      pairs.emplace(wanted, seen);
    } else {
      RC_ASSERT(known->second == seen);
    }
  }
  static std::vector<OwnerId> owners(const std::vector<Waiter>& waiters) {
    std::vector<OwnerId> all;
    for (const Waiter& waiter : waiters) {
      all.push_back(waiter.owner);
    }
    return all;
  }

  std::unique_ptr<Place> place_;
  Speaker speaker_{place_->lane(), place_->open(), Speaker::Listening::yes};
  LockTable table_{};
  LockTable::Notices notices_{};
  std::array<std::map<Fence, Fence>, 2> fences_{};
};

class StoreModel : public StoreTest {};
HOLDFAST_ON_EVERY_STORE(StoreModel);

TEST_P(StoreModel, AnswersAsLockTable) {
  EXPECT_TRUE(rc::check("random commands", [] {
    Comparison comparison{GetParam().make()};
    for (const Command& command : *property::commands(0)) {
      comparison.run(command);
    }
    comparison.compare_what_was_told();
  }));
}

}  // namespace
}  // namespace holdfast::conformance
