// Locker's part in several names at once, all or none.
#include "sim/locker.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

constexpr Duration one_answer_max = std::chrono::milliseconds{2500};  // op_timeout and a bit

}  // namespace

AttemptId Locker::acquire_all(const LockerGroupWait& wait, GroupHandler done) {
  auto group = std::make_shared<RunningGroup>();
  group->attempt = around_.next_attempt++;
  group->options = wait.options;
  group->done = std::move(done);
  groups_[group->attempt] = group;

  std::vector<Claim> claims;
  for (const std::string& name : wait.names) {
    claims.push_back(make_claim({name, wait.options}, group->attempt));
  }
  std::ranges::sort(claims, {}, &Claim::name);
  const Instant now = runtime_.now();
  std::optional<Instant> deadline;
  Wanted wanted{node_, group->attempt, claims.front().name, WorldTime::max(), {}, claims.size()};
  if (wait.timeout) {
    deadline = now + *wait.timeout;
    const auto answers = static_cast<std::int64_t>(wait.at_once ? 1 : claims.size());
    const bool single = *wait.timeout == Duration{0};
    group->due = single ? now + one_answer_max * answers : *deadline;
    wanted.due = clock_.when(*group->due);
  }
  around_.history.record(wanted);
  const auto fresh = [this] {
    OwnerId owner;
    runtime_.random_bytes(owner.bytes);
    return owner;
  };
  engine_.acquire_all(
      group->attempt,
      AcquireAllMachine{std::move(claims), wait.options.safety_margin, deadline, wait.at_once,
                        fresh},
      [this, group](const AcquireAllMachine& ended) { finish_group(*group, ended); });
  return group->attempt;
}

bool Locker::cancel_group(AttemptId attempt) {
  const auto found = groups_.find(attempt);
  if (found == groups_.end()) {
    return false;
  }
  found->second->due = runtime_.now();
  around_.history.record(Due{attempt, around_.world.now()});
  engine_.cancel_all(attempt);
  return true;
}

void Locker::finish_group(const RunningGroup& group, const AcquireAllMachine& ended) {
  const auto running = groups_.extract(group.attempt);
  if (const std::error_code code = ended.result().code) {
    around_.history.record(Refused{node_, group.attempt, ended.claims().front().name, code});
    around_.history.count("not granted: " + code.message());
    if (!closing_) {
      group.done({}, code);
    }
    return;
  }
  around_.history.count("granted together");
  std::vector<LeasePtr> leases;
  for (std::size_t i = 0; i < ended.claims().size(); ++i) {
    leases.push_back(hold(group.attempt, group.options, ended.claims()[i], *ended.grants()[i]));
  }
  if (!closing_) {
    group.done(std::move(leases), {});
    return;
  }
  for (const LeasePtr& lease : leases) {
    given_back_while_closing(lease);
  }
}

}  // namespace holdfast::sim
