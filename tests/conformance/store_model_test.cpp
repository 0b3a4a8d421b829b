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
  property::put_use(claim, command.owner);
  claim.ttl = 100s;
  claim.liveness = 100s;
  const int kind = command.owner % 6;
  claim.min_hold = kind == 1 ? 90s : 0s;
  claim.max_hold = kind == 2 ? 95s : 0s;
  claim.lock_delay = kind == 3 ? 20s : 0s;
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
  switch (command.owner % 6) {
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

  // On a store that does not know all of it yet: the plain lock that comes nearest.
  Command within_capabilities(Command command) {
    const Capabilities knows = speaker_.store().capabilities();
    if (!(knows.shared && knows.permits && knows.at_once && knows.runs && knows.values)) {
      command.owner %= property::lock_owner_kinds;
      command.verb =
          static_cast<Command::Verb>(static_cast<int>(command.verb) % property::lock_verb_kinds);
    }
    return command;
  }

  // `claim_of` makes the claim of a command; `remember` is how long its run stays done.
  template <class ClaimOf>
  void run(const Command& drawn, ClaimOf claim_of, Duration remember) {
    const Command command = within_capabilities(drawn);
    const Claim claim = claim_of(command);
    const LockTable::Reading at{place_->lane().now(), 0};
    using Verb = Command::Verb;
    Fence wanted_floor = Fence::none;
    Fence seen_floor = Fence::none;
    switch (command.verb) {
      case Verb::acquire:
      case Verb::queue: {
        const auto how = command.verb == Verb::queue ? Store::Queueing::yes : Store::Queueing::no;
        const AcquireReply wanted = table_.acquire(claim, how, at, notices_);
        const AcquireReply seen = speaker_.acquire(claim, how);
        same(wanted, seen);
        if (const auto* granted = std::get_if<Granted>(&wanted)) {
          wanted_floor = granted->floor;
          seen_floor = std::get<Granted>(seen).floor;
        }
        break;
      }
      case Verb::renew: {
        const RenewReply wanted = table_.renew(claim, at, notices_);
        same_gone(wanted, speaker_.renew(claim));
        break;
      }
      case Verb::amend: {
        const Claim changed = amended(command, claim);
        const AmendReply wanted = table_.amend(changed, at, notices_);
        same_gone(wanted, speaker_.amend(changed));
        break;
      }
      case Verb::release:
      case Verb::withdraw:
      case Verb::finish: {
        const bool finish = command.verb == Verb::finish;
        const WithdrawOptions options{.keep_min_hold = command.verb != Verb::withdraw,
                                      .tombstone = command.flag && !finish,
                                      .remember = finish ? remember : 0s};
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
      case Verb::both:
        run_both(command, claim_of, at);
        break;
    }
    same_name(command.name, at);
    RC_ASSERT((wanted_floor == Fence::none || fences(command.name).at(wanted_floor) == seen_floor));
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
  static Claim amended(const Command& command, Claim claim) {
    claim.value += " amended";
    if (command.flag && claim.limit == 0) {
      claim.mode = claim.mode == Mode::shared ? Mode::exclusive : Mode::shared;
    }
    return claim;
  }
  template <class ClaimOf>
  void run_both(const Command& command, ClaimOf claim_of, LockTable::Reading at) {
    std::vector<Claim> claims;
    for (int name = 0; name < 2; ++name) {
      claims.push_back(claim_of(Command{.name = name, .owner = command.owner}));
    }
    const AcquireAllReply wanted = table_.acquire_all(claims, at, notices_);
    const AcquireAllReply seen = speaker_.acquire_all(claims);
    same(wanted, seen);
    if (const auto* busy = std::get_if<AllBusy>(&wanted)) {
      RC_ASSERT(std::get<AllBusy>(seen).which == busy->which);
    }
    same_name(1 - command.name, at);
  }

  bool still_holds(const HandedOff& handed) const {
    const LockTable::Reading at{place_->lane().now(), 0};
    return std::ranges::any_of(std::array{"a", "b"}, [&](const char* name) {
      const NameView view = table_.inspect(name, at);
      return std::ranges::any_of(view.holders, [&](const Holder& holder) {
        return holder.fence == handed.fence && holder.owner == handed.owner && !holder.released;
      });
    });
  }
  template <class Reply>
  static void same(const Reply& wanted, const Reply& seen) {
    RC_ASSERT(wanted.index() == seen.index());
    if constexpr (!std::is_same_v<Reply, WithdrawReply>) {
      const auto* failed = std::get_if<Failed>(&wanted);
      RC_ASSERT((failed == nullptr || std::get<Failed>(seen).code == failed->code));
    }
  }
  template <class Reply>
  static void same_gone(const Reply& wanted, const Reply& seen) {
    same(wanted, seen);
    const auto* gone = std::get_if<Gone>(&wanted);
    RC_ASSERT((gone == nullptr || std::get<Gone>(seen).reason == gone->reason));
  }
  void same_name(int name, LockTable::Reading at) {
    const std::string text(1, static_cast<char>('a' + name));
    const NameView wanted = table_.inspect(text, at);
    const NameView seen = speaker_.inspect(text);
    same_holders(name, wanted.holders, seen.holders);
    RC_ASSERT(owners(seen.waiters) == owners(wanted.waiters));
  }
  void same_holders(int name, const std::vector<Holder>& wanted, const std::vector<Holder>& seen) {
    RC_ASSERT(wanted.size() == seen.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      RC_ASSERT(seen[i].owner == wanted[i].owner);
      RC_ASSERT(seen[i].who == wanted[i].who);
      RC_ASSERT(seen[i].released == wanted[i].released);
      RC_ASSERT((seen[i].released || seen[i].broken == wanted[i].broken));
      RC_ASSERT(seen[i].mode == wanted[i].mode);
      RC_ASSERT(seen[i].permits == wanted[i].permits);
      RC_ASSERT(seen[i].limit == wanted[i].limit);
      RC_ASSERT((!compares_values_ || seen[i].value == wanted[i].value));
      same_fence(name, wanted[i].fence, seen[i].fence);
    }
  }
  // The numbers differ; that each is of one grant, and that they rise, does not.
  void same_fence(int name, Fence wanted, Fence seen) {
    auto& pairs = fences(name);
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

  std::map<Fence, Fence>& fences(int name) { return fences_.at(static_cast<std::size_t>(name)); }

  std::unique_ptr<Place> place_;
  bool time_passes_ = false;
  Speaker speaker_{place_->lane(), place_->open(), Speaker::Listening::yes};
  bool compares_values_ = speaker_.store().capabilities().values;
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
      comparison.run(command, patient, 100s);
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
      Command command{.verb = static_cast<Command::Verb>(below(property::verb_kinds)),
                      .name = below(3) == 0 ? 1 : 0,
                      .flag = below(2) == 0};
      command.owner = property::owner_drawn(command.name, below(18));
      log << command << "\n";
      comparison.run(command, brief_in_one_way, command.flag ? brief : 100s);
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
