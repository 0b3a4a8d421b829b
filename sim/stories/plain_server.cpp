#include "sim/stories/plain_server.hpp"

#include <utility>

namespace holdfast::sim {

namespace {

constexpr Instant clock_start{std::chrono::hours{1}};
const std::string lock_name = "payout";

}  // namespace

PlainServer::PlainServer(World& world, Network& network, Recorder& recorder, std::int64_t drift_ppm,
                         Duration replica_lag)
    : world_(world), network_(network), recorder_(recorder), clock_(world, clock_start, drift_ppm) {
  if (replica_lag > Duration{0}) {
    replicate(replica_lag);
  }
}

void PlainServer::replicate(Duration lag) {
  world_.after(lag, [this, lag, copy = std::make_shared<const State>(state_)] {
    replica_ = copy;
    replicate(lag);
  });
}

void PlainServer::send(NodeId node, Command command, std::function<void(std::int64_t)> answered) {
  const Place place = place_of_node(node);
  network_.send(place, Place::store, 0,
                [this, place, command = std::move(command), answered = std::move(answered)] {
                  if (!up_) {
                    return;  // the client's own timer finds out
                  }
                  network_.send(Place::store, place, 0,
                                [answered, result = command(*this)] { answered(result); });
                });
}

bool PlainServer::held() {
  if (state_.lock && state_.lock->ends && *state_.lock->ends <= clock_.now()) {
    state_.lock.reset();
  }
  return state_.lock.has_value();
}

void PlainServer::record_end() {
  if (state_.lock) {
    recorder_.hear(
        StoreHolds{lock_name, state_.lock->owner,
                   state_.lock->ends ? clock_.when(*state_.lock->ends) : WorldTime::max()});
  }
}

std::int64_t PlainServer::set_if_absent(const OwnerId& owner, Duration ttl) {
  if (held()) {
    return 0;
  }
  state_.lock = Entry{owner, {}};
  recorder_.hear(StoreGranted{lock_name, owner, Fence::none, false, clock_.now()});
  if (ttl > Duration{0}) {
    state_.lock->ends = clock_.now() + ttl;
  }
  record_end();
  return 1;
}

std::int64_t PlainServer::expire(Duration ttl) {
  if (!held()) {
    return 0;
  }
  state_.lock->ends = clock_.now() + ttl;
  record_end();
  return 1;
}

std::int64_t PlainServer::remove(const OwnerId& by) {
  if (!held()) {
    return 0;
  }
  recorder_.hear(StoreWithdrew{lock_name, by, {state_.lock->owner}, {}, clock_.now()});
  state_.lock.reset();
  return 1;
}

std::int64_t PlainServer::remove_own(const OwnerId& owner) {
  return held() && state_.lock->owner == owner ? remove(owner) : 0;
}

std::int64_t PlainServer::increment() { return ++state_.counter; }

void PlainServer::fail_over(Duration down) {
  const bool was_held = held();
  const OwnerId owner = was_held ? state_.lock->owner : OwnerId{};
  state_ = *replica_;
  if (was_held && (!held() || state_.lock->owner != owner)) {
    recorder_.hear(StoreForgot{"failover", {owner}, false, true, false, {}});
  }
  record_end();
  up_ = false;
  world_.after(down, [this] { up_ = true; });
}

void PlainServer::jump_clock(Duration by) {
  held();
  clock_.jump(by);
  record_end();
}

}  // namespace holdfast::sim
