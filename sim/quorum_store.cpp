#include "sim/quorum_store.hpp"

#include "base/mutation.hpp"
#include "sim/model_protocol.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;

constexpr Duration again_in = milliseconds{200};  // an undo that nobody answered
constexpr Duration recheck_least = milliseconds{100};
constexpr Duration recheck_most = milliseconds{400};

}  // namespace

struct QuorumStore::Attempt {
  Claim claim{};
  std::uint64_t number = 0;
  UniqueFunction<void(AcquireReply)> done{};
  Runtime::TimerId timer = 0;
  Instant began{};
  std::set<std::size_t> ours{};
  std::map<Fence, std::size_t> own{};  // noted for us by an earlier attempt, on how many nodes
  std::set<std::size_t> answered{};
  bool held = false;
  Fence highest = Fence::none;
  Fence fence = Fence::none;  // set in the second round
  Instant second_round{};
  std::set<std::size_t> noted{};
  std::set<std::size_t> not_noted{};
  bool over = false;
  bool granted = false;
};

QuorumStore::QuorumStore(World& world, Network& network, Quorum& quorum, History& history,
                         Runtime& runtime, QuorumStoreOptions options)
    : world_(world),
      network_(network),
      quorum_(quorum),
      history_(history),
      runtime_(runtime),
      options_(options) {}

QuorumStore::~QuorumStore() = default;

Capabilities QuorumStore::capabilities() const { return {}; }

void QuorumStore::record(Verb verb, const Claim& claim) {
  history_.record(Asked{options_.node, verb, claim.name, claim.owner, attempt_of(claim),
                        claim.ttl + claim.lock_delay, claim.value});
}

Runtime::TimerId QuorumStore::later(Duration delay, std::function<void()> event) {
  return runtime_.call_at(runtime_.now() + delay,
                          [weak = std::weak_ptr{self_}, event = std::move(event)] {
                            if (!weak.expired()) {
                              event();
                            }
                          });
}

// ---- acquire -----------------------------------------------------------------------------------

void QuorumStore::acquire(const Claim& claim, Queueing queueing,
                          UniqueFunction<void(AcquireReply)> done) {
  record(queueing == Queueing::yes ? Verb::queue : Verb::acquire, claim);
  auto attempt = std::make_shared<Attempt>();
  attempt->claim = claim;
  attempt->number = quorum_.next_attempt();
  attempt->done = std::move(done);
  attempt->began = runtime_.now();
  attempt->timer = later(options_.op_timeout, [this, attempt] { give_up(attempt); });
  for (std::size_t i = 0; i < size(); ++i) {
    call<QuorumNode::Locked>(
        i, [claim, number = attempt->number](QuorumNode& node) { return node.lock(claim, number); },
        [this, attempt, i](const QuorumNode::Locked& answer) { locked(attempt, i, answer); });
  }
}

void QuorumStore::locked(const AttemptPtr& attempt, std::size_t node,
                         const QuorumNode::Locked& answer) {
  using Word = QuorumNode::Word;
  if (answer.word == Word::unmarked) {
    mark_again(node);
  }
  if (attempt->over && !attempt->granted) {
    if (answer.word == Word::ours && !mutated(Mutation::stragglers_stay)) {
      undo(node, attempt->claim, attempt->number, runtime_.now());
    }
    return;
  }
  if (!attempt->over) {
    attempt->answered.insert(node);
    attempt->held = attempt->held || answer.word == Word::held;
  }
  if (answer.word == Word::ours && attempt->ours.insert(node).second) {
    if (attempt->fence != Fence::none) {
      raise(attempt, node);  // a late one may still help
      return;
    }
    attempt->highest = std::max(attempt->highest, answer.fence);
    ++attempt->own[answer.own];
  }
  if (attempt->over || attempt->fence != Fence::none) {
    return;
  }
  if (attempt->ours.size() >= quorum_.majority()) {
    choose_fence(attempt);
  } else if (attempt->ours.size() + size() - attempt->answered.size() < quorum_.majority()) {
    give_up(attempt);
  }
}

void QuorumStore::choose_fence(const AttemptPtr& attempt) {
  attempt->second_round = runtime_.now();
  if (quorum_.options().one_round || mutated(Mutation::one_round_fence)) {
    attempt->fence = attempt->highest;
    quorum_.granted(attempt->claim, attempt->fence);
    quorum_.tell_end(attempt->claim);
    attempt->granted = true;
    for (const std::size_t node : attempt->ours) {
      raise(attempt, node);
    }
    finish(attempt, Granted{attempt->fence, attempt->fence, attempt->claim.ttl});
    return;
  }
  attempt->fence = static_cast<Fence>(to_int(attempt->highest) + 1);
  for (const auto& [own, nodes] : attempt->own) {
    if (own != Fence::none && nodes >= quorum_.majority()) {
      attempt->fence = own;  // asked again: it keeps its fence
    }
  }
  for (const std::size_t node : std::set<std::size_t>{attempt->ours}) {
    raise(attempt, node);
  }
}

void QuorumStore::raise(const AttemptPtr& attempt, std::size_t node) {
  call<bool>(
      node,
      [claim = attempt->claim, fence = attempt->fence, node, &quorum = quorum_](QuorumNode& at) {
        const bool noted = at.raise(claim, fence);
        if (noted) {
          quorum.noted(node, claim, fence);
        }
        return noted;
      },
      [this, attempt, node](bool noted) { raised(attempt, node, noted); });
}

void QuorumStore::raised(const AttemptPtr& attempt, std::size_t node, bool noted) {
  if (attempt->over) {
    return;
  }
  (noted ? attempt->noted : attempt->not_noted).insert(node);
  if (runtime_.now() - attempt->began >= attempt->claim.ttl * 9 / 10) {
    give_up(attempt);  // what was locked first may be over
  } else if (attempt->noted.size() >= quorum_.majority()) {
    quorum_.granted(attempt->claim, attempt->fence);
    quorum_.tell_end(attempt->claim);
    attempt->granted = true;
    Duration ttl = attempt->claim.ttl;
    if (mutated(Mutation::validity_from_round_two)) {
      ttl += attempt->second_round - attempt->began;
    }
    finish(attempt, Granted{attempt->fence, attempt->fence, ttl});
  } else if (size() - attempt->not_noted.size() < quorum_.majority()) {
    give_up(attempt);
  }
}

void QuorumStore::finish(const AttemptPtr& attempt, AcquireReply reply) {
  attempt->over = true;
  runtime_.cancel(attempt->timer);
  attempt->done(std::move(reply));
}

void QuorumStore::give_up(const AttemptPtr& attempt) {
  if (attempt->over) {
    return;
  }
  if (!mutated(Mutation::stragglers_stay)) {
    for (std::size_t i = 0; i < size(); ++i) {
      undo(i, attempt->claim, attempt->number, runtime_.now() + attempt->claim.ttl * 2);
    }
  } else {
    for (const std::size_t node : attempt->ours) {
      undo(node, attempt->claim, attempt->number, runtime_.now());
    }
  }
  if (attempt->held || attempt->fence != Fence::none) {
    finish(attempt, Busy{world_.random().between(recheck_least, recheck_most), {}});
  } else {
    finish(attempt, Failed{errc::store_unavailable, true, "no quorum answered"});
  }
}

// Sent again until it is answered, for as long as the record could be there.
void QuorumStore::undo(std::size_t node, const Claim& claim, std::uint64_t number, Instant until) {
  const auto answered = std::make_shared<bool>(false);
  call<bool>(
      node,
      [claim, number](QuorumNode& at) {
        at.undo(claim, number);
        return true;
      },
      [answered](bool) { *answered = true; });
  later(again_in, [this, answered, node, claim, number, until] {
    if (!*answered && runtime_.now() < until) {
      undo(node, claim, number, until);
    }
  });
}

// ---- what a model has no use for ---------------------------------------------------------------

void QuorumStore::listen(UniqueFunction<void(const StoreEvent&)> /*listener*/) {}

void QuorumStore::inspect(const std::string& /*name*/, UniqueFunction<void(InspectReply)> done) {
  runtime_.post([done = std::move(done)]() mutable { done(Failed{errc::unsupported, false, {}}); });
}

void QuorumStore::list(const std::string& /*prefix*/, const std::string& /*cursor*/,
                       UniqueFunction<void(ListReply)> done) {
  runtime_.post([done = std::move(done)]() mutable { done(Failed{errc::unsupported, false, {}}); });
}

void QuorumStore::break_name(const std::string& /*name*/, BreakMode /*mode*/,
                             UniqueFunction<void(BreakReply)> done) {
  runtime_.post([done = std::move(done)]() mutable { done(Failed{errc::unsupported, false, {}}); });
}

void QuorumStore::diagnose(UniqueFunction<void(std::vector<Finding>)> done) {
  runtime_.post([done = std::move(done)]() mutable { done({}); });
}

void QuorumStore::close() noexcept { self_.reset(); }

}  // namespace holdfast::sim
