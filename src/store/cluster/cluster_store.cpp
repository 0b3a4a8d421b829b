#include "store/cluster/cluster_store.hpp"

#include "store/redis/replies.hpp"
#include "store/redis/requests.hpp"

#include <algorithm>
#include <numeric>

namespace holdfast::cluster {

ClusterStore::ClusterStore(EventLoop& loop, std::shared_ptr<const Settings> settings)
    : loop_(loop), settings_(std::move(settings)), router_(loop, settings_) {}

Capabilities ClusterStore::capabilities() const {
  return {.queue = true,
          .wake_ups = true,
          .ttl = true,
          .shared = true,
          .permits = true,
          .at_once = true,  // of names that share a slot
          .runs = true,
          .values = true};
}

// A script in a cluster may only touch keys of one slot.
bool ClusterStore::grants_at_once(std::span<const Claim> claims) const {
  return std::ranges::all_of(claims, [&](const Claim& claim) {
    return slot_of_name(claim.name) == slot_of_name(claims.front().name);
  });
}

void ClusterStore::listen(UniqueFunction<void(const StoreEvent&)> listener) {
  listener_ = std::move(listener);
  wakes_ = std::make_unique<redis::WakeListener>(
      loop_, std::shared_ptr<const redis::Settings>(settings_, &settings_->any_node), any_node_,
      [this](const StoreEvent& event) { listener_(event); });
  router_.keep_watch([this] { listener_(Doubt{}); });
}

void ClusterStore::close() noexcept {
  router_.close();
  if (wakes_) {
    wakes_->close();
  }
}

// ---- acquire -----------------------------------------------------------------------------------

void ClusterStore::acquire(const Claim& claim, Queueing queueing,
                           UniqueFunction<void(AcquireReply)> done) {
  const Instant by = deadline();
  const bool queue = queueing == Queueing::yes;
  if (!queue || !wakes_) {
    send_acquire(claim, queue, by, std::move(done));
    return;
  }
  // Half of the time at most goes into being reachable; the rest is the request's.
  wakes_->when_settled(by - node_settings().op_timeout / 2,
                       [this, claim, by, done = std::move(done)]() mutable {
                         send_acquire(claim, true, by, std::move(done));
                       });
}

void ClusterStore::send_acquire(const Claim& claim, bool queue, Instant by,
                                UniqueFunction<void(AcquireReply)> done) {
  router_.send(slot_of_name(claim.name), redis::acquire_request(claim, queue, node_settings()), by,
               answer_with<AcquireReply>(std::move(done),
                                         [limit = claim.limit](const redis::Reply& reply) {
                                           return redis::parse_acquired(reply, limit);
                                         }),
               {claim.owner});
}

void ClusterStore::acquire_all(std::span<const Claim> claims,
                               UniqueFunction<void(AcquireAllReply)> done) {
  if (claims.empty() || !grants_at_once(claims)) {
    loop_.post([none = claims.empty(), done = std::move(done)]() mutable {
      if (none) {
        done(AllGranted{});
      } else {
        done(Failed{errc::unsupported, false, "these names are in several slots of the cluster"});
      }
    });
    return;
  }
  std::vector<OwnerId> owners;
  for (const Claim& claim : claims) {
    owners.push_back(claim.owner);
  }
  router_.send(
      slot_of_name(claims.front().name), redis::acquire_all_request(claims, node_settings()),
      deadline(),
      answer_with<AcquireAllReply>(
          std::move(done),
          [asked = std::vector<Claim>(claims.begin(), claims.end())](const redis::Reply& reply) {
            return redis::parse_all_acquired(reply, asked);
          }),
      std::move(owners));
}

// ---- renew -------------------------------------------------------------------------------------

void ClusterStore::renew(std::span<const Claim> claims,
                         UniqueFunction<void(std::vector<RenewReply>)> done) {
  if (wakes_) {
    wakes_->start();  // so that a broken name is heard of before the next renewal
  }
  if (claims.empty()) {
    loop_.post([done = std::move(done)]() mutable { done({}); });
    return;
  }
  std::vector<std::pair<Slot, std::size_t>> order;
  order.reserve(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    order.emplace_back(slot_of_name(claims[i].name), i);
  }
  std::ranges::sort(order);
  const GatheredRenewal renewal{claims.size(), std::move(done)};
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    std::vector<Claim> batch;
    std::vector<std::size_t> places;
    for (;
         end < order.size() && order[end].first == order[first].first && batch.size() < renew_batch;
         ++end) {
      batch.push_back(claims[order[end].second]);
      places.push_back(order[end].second);
    }
    send_renewal(order[first].first, batch, renewal.batch(std::move(places)));
    first = end;
  }
}

void ClusterStore::send_renewal(Slot slot, std::span<const Claim> claims,
                                GatheredRenewal::Handler collect) {
  router_.send(slot, redis::renew_request(claims, node_settings()), deadline(),
               answer_with<GatheredRenewal::Batch>(
                   std::move(collect), [count = claims.size()](const redis::Reply& reply) {
                     return redis::parse_renewed(reply, count);
                   }));
}

// ---- amend, withdraw ---------------------------------------------------------------------------

void ClusterStore::amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) {
  router_.send(slot_of_name(claim.name), redis::amend_request(claim, node_settings()), deadline(),
               answer_with<AmendReply>(std::move(done), redis::parse_amended));
}

void ClusterStore::withdraw(const Claim& claim, WithdrawOptions options,
                            UniqueFunction<void(WithdrawReply)> done) {
  router_.send_after_acquires_of(
      claim.owner, slot_of_name(claim.name),
      redis::withdraw_request(claim, options, node_settings()), deadline(),
      answer_with<WithdrawReply>(std::move(done), redis::parse_withdrawn));
}

}  // namespace holdfast::cluster
