#include "store/redis/redis_store.hpp"

#include "base/gathered_renewal.hpp"
#include "store/redis/replies.hpp"
#include "store/redis/requests.hpp"

#include <algorithm>

namespace holdfast::redis {

RedisStore::RedisStore(EventLoop& loop, std::shared_ptr<const Settings> settings,
                       std::unique_ptr<Locator> locator)
    : loop_(loop),
      settings_(std::move(settings)),
      locator_(std::move(locator)),
      link_(loop, settings_, *locator_) {}

Capabilities RedisStore::capabilities() const {
  return {.queue = true,
          .wake_ups = true,
          .ttl = true,
          .shared = true,
          .permits = true,
          .at_once = true,
          .runs = true,
          .values = true};
}

void RedisStore::listen(UniqueFunction<void(const StoreEvent&)> listener) {
  listener_ = std::move(listener);
  wakes_ = std::make_unique<WakeListener>(loop_, settings_, *locator_,
                                          [this](const StoreEvent& event) { listener_(event); });
  link_.keep_connected([this] { listener_(Doubt{}); });
  locator_->watch([this] {
    wakes_->relocate();
    if (!link_.relocate()) {
      listener_(Doubt{});
    }
  });
}

void RedisStore::close() noexcept {
  locator_->close();
  link_.close();
  if (wakes_) {
    wakes_->close();
  }
}

// ---- acquire -----------------------------------------------------------------------------------

void RedisStore::acquire(const Claim& claim, Queueing queueing,
                         UniqueFunction<void(AcquireReply)> done) {
  const Instant by = deadline();
  const bool queue = queueing == Queueing::yes;
  Attempt attempt{acquire_request(claim, queue, *settings_), claim.owner, claim.limit, by};
  if (!queue || !wakes_) {
    send_acquire(std::move(attempt), std::move(done));
    return;
  }
  // Half of the time at most goes into being reachable; the rest is the request's.
  wakes_->when_settled(by - settings_->op_timeout / 2,
                       [this, attempt = std::move(attempt), done = std::move(done)]() mutable {
                         send_acquire(std::move(attempt), std::move(done));
                       });
}

void RedisStore::send_acquire(Attempt attempt, UniqueFunction<void(AcquireReply)> done) {
  link_.send(std::move(attempt.request), attempt.by,
             answer_with<AcquireReply>(std::move(done),
                                       [limit = attempt.limit](const Reply& reply) {
                                         return parse_acquired(reply, limit);
                                       }),
             {attempt.owner}, grants);
}

void RedisStore::acquire_all(std::span<const Claim> claims,
                             UniqueFunction<void(AcquireAllReply)> done) {
  if (claims.empty()) {
    loop_.post([done = std::move(done)]() mutable { done(AllGranted{}); });
    return;
  }
  std::vector<OwnerId> owners;
  for (const Claim& claim : claims) {
    owners.push_back(claim.owner);
  }
  link_.send(
      acquire_all_request(claims, *settings_), deadline(),
      answer_with<AcquireAllReply>(
          std::move(done), [asked = std::vector<Claim>(claims.begin(), claims.end())](
                               const Reply& reply) { return parse_all_acquired(reply, asked); }),
      std::move(owners), grants);
}

// ---- renew -------------------------------------------------------------------------------------

void RedisStore::renew(std::span<const Claim> claims,
                       UniqueFunction<void(std::vector<RenewReply>)> done) {
  if (wakes_) {
    wakes_->start();  // so that a broken name is heard of before the next renewal
  }
  if (claims.empty()) {
    loop_.post([done = std::move(done)]() mutable { done({}); });
    return;
  }
  renew_in_batches(
      claims, renew_batch, std::move(done),
      [this](std::span<const Claim> batch, GatheredRenewal::Handler collect) {
        link_.send(renew_request(batch, *settings_), deadline(),
                   answer_with<GatheredRenewal::Batch>(std::move(collect),
                                                       [count = batch.size()](const Reply& reply) {
                                                         return parse_renewed(reply, count);
                                                       }),
                   {}, renews_any);
      });
}

// ---- amend -------------------------------------------------------------------------------------

void RedisStore::amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) {
  link_.send(amend_request(claim, *settings_), deadline(),
             answer_with<AmendReply>(std::move(done), parse_amended));
}

// ---- withdraw ----------------------------------------------------------------------------------

void RedisStore::withdraw(const Claim& claim, WithdrawOptions options,
                          UniqueFunction<void(WithdrawReply)> done) {
  link_.send_after_acquires_of(claim.owner, withdraw_request(claim, options, *settings_),
                               deadline(),
                               answer_with<WithdrawReply>(std::move(done), parse_withdrawn));
}

}  // namespace holdfast::redis
