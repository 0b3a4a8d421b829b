// Random conversations: every store answers as LockTable does, and tells the same.
#include "store/memory/lock_table.hpp"
#include "tests/conformance/store_test.hpp"
#include "tests/property/command.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <sstream>

namespace holdfast::conformance {
namespace {

using property::Command;

// Long enough that nothing ends by time while the test runs.
Claim patient(const Command& command) {
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

// Time passes in steps: commands follow each other within `moment`, and what is `brief` has not
// ended then; after a `pause` all of it has, twice over. So a slow machine changes no answer.
constexpr Duration moment = 80ms;
constexpr Duration brief = 160ms;
constexpr Duration pause = 500ms;

Claim brief_in_one_way(const Command& command) {
  Claim claim = patient(command);
  claim.min_hold = claim.max_hold = claim.lock_delay = 0s;
  switch (command.owner) {
    case 0:
      claim.ttl = brief;
      break;
    case 1:
      claim.min_hold = brief;
      break;
    case 2:
      claim.max_hold = brief;
      break;
    case 3:
      claim.ttl = claim.lock_delay = brief;
      break;
    case 4:
      claim.liveness = brief;
      break;
    default:
      claim.ttl = brief;
      claim.min_hold = 90s;
  }
  return claim;
}

class Comparison {
 public:
  explicit Comparison(std::unique_ptr<Place> place) : place_(std::move(place)) {}

  Lane& lane() { return place_->lane(); }
  void pass(Duration time) {
    time_passes_ = true;
    const auto over = std::make_shared<bool>(false);
    lane().call_at(lane().now() + time, [over] { *over = true; });
    lane().run_until([over] { return *over; });
  }

  void run(const Command& command, const Claim& claim) {
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
        const WithdrawReply wanted = table_.withdraw(claim, options, at, notices_);
        const WithdrawReply seen = speaker_.withdraw(claim, options);
        // A place that its owner has lost by time may still be there to be left, or not.
        if (!time_passes_ || std::holds_alternative<Released>(wanted)) {
          same(wanted, seen);
        }
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
  bool time_passes_ = false;
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
      comparison.run(command, patient(command));
    }
    comparison.compare_what_was_told();
  }));
}

// Runs one conversation of a few moments. False: a moment took too long to say anything.
bool run_in_moments(Comparison& comparison, std::mt19937_64& random, std::ostream& log) {
  const auto below = [&](unsigned bound) { return static_cast<int>(random() % bound); };
  for (int round = 0; round < 4; ++round) {
    const Instant began = comparison.lane().now();
    for (int i = 0; i < 7; ++i) {
      const Command command{.verb = static_cast<Command::Verb>(below(6)),
                            .name = below(4) == 0 ? 1 : 0,
                            .owner = below(property::owner_kinds),
                            .flag = below(2) == 0};
      log << command << "\n";
      comparison.run(command, brief_in_one_way(command));
      if (comparison.lane().now() > began + moment) {
        return false;
      }
    }
    log << "a pause\n";
    comparison.pass(pause);
  }
  return true;
}

TEST_P(StoreModel, AnswersAsLockTableAsTimePasses) {
  const int conversations = GetParam().name == "sim" ? 500 : 2;
  std::random_device device;
  int completed = 0;
  for (int tries = 0; tries < 3 * conversations && completed < conversations; ++tries) {
    std::mt19937_64 random{device()};
    std::ostringstream log;
    Comparison comparison{GetParam().make()};
    try {
      completed += run_in_moments(comparison, random, log) ? 1 : 0;
    } catch (const rc::detail::CaseResult& difference) {
      FAIL() << log.str() << difference.description;
    }
  }
  EXPECT_GT(completed, 0);
}

}  // namespace
}  // namespace holdfast::conformance
