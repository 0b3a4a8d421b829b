#include "store/etcd/etcd_store.hpp"

#include "store/etcd/attempt.hpp"
#include "store/etcd/errors.hpp"
#include "store/etcd/people_clock.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::etcd {

Duration kept_for(const Claim& claim) {
  const bool bounded = claim.max_hold > Duration::zero();
  return (bounded ? std::min(claim.ttl, claim.max_hold) : claim.ttl) + claim.lock_delay;
}

Record record_of(const Claim& claim, Record::State state) {
  Record record;
  record.owner = claim.owner;
  record.state = state;
  record.ttl_ms = std::chrono::ceil<std::chrono::milliseconds>(kept_for(claim)).count();
  record.since_ms = unix_ms();
  record.who = claim.who;
  record.value = claim.value;
  return record;
}

EtcdStore::EtcdStore(Runtime& runtime, std::shared_ptr<const Settings> settings,
                     std::shared_ptr<Client> client)
    : runtime_(runtime),
      settings_(std::move(settings)),
      client_(std::move(client)),
      session_(std::make_unique<Session>(runtime, settings_, client_, [this] {
        if (watches_) {
          watches_->doubt();
        }
      })) {}

// What differs from the other stores, and why: docs/stores/etcd.md.
Capabilities EtcdStore::capabilities() const {
  return {.queue = true, .wake_ups = true, .values = true};
}

Failed EtcdStore::failed(const grpc::Status& status) const {
  return why_failed(settings_->place, status);
}

void EtcdStore::listen(UniqueFunction<void(const StoreEvent&)> listener) {
  watches_ =
      std::make_unique<WakeWatches>(runtime_, *session_, client_->ears(), std::move(listener));
}

void EtcdStore::withdraw(const Claim& claim, WithdrawOptions options,
                         UniqueFunction<void(WithdrawReply)> done) {
  const Instant by = deadline();
  queued_.erase(claim.owner);
  granted_.erase(claim.owner);
  client_->ears()->with([owner = claim.owner](WakeWatches& ears) { ears.drop(owner); });
  if (!options.tombstone) {
    remove_all(claim, 0, by, std::move(done));
    return;
  }
  session_->grant(0, whole_seconds(claim.ttl), by,
                  [this, claim, by, done = std::move(done)](
                      const grpc::Status& status, const rpc::LeaseGrantResponse& made) mutable {
                    if (status.ok()) {
                      remove_all(claim, made.id(), by, std::move(done));
                    } else {
                      done(failed(status));
                    }
                  });
}

// The keys are ours alone: their names hold half of the random owner each.
void EtcdStore::remove_all(const Claim& claim, std::int64_t tombstone_lease, Instant by,
                           UniqueFunction<void(WithdrawReply)> done) {
  const bool tombstone = tombstone_lease != 0;
  rpc::TxnRequest request;
  *request.add_success() =
      remove(settings_->keys.contender(claim.name, holding_lease(claim.owner)));
  *request.add_success() =
      remove(settings_->keys.contender(claim.name, waiting_lease(claim.owner)));
  if (tombstone) {
    *request.add_success() = put(settings_->keys.tombstone(claim.owner),
                                 record_of(claim, Record::State::waiting), tombstone_lease);
  }
  session_->txn(std::move(request), by,
                [this, claim, by, tombstone, done = std::move(done)](
                    const grpc::Status& status, const rpc::TxnResponse& answer) mutable {
                  if (!status.ok()) {
                    done(failed(status));
                    return;
                  }
                  const std::int64_t held = answer.responses(0).response_delete_range().deleted();
                  const std::int64_t waited = answer.responses(1).response_delete_range().deleted();
                  // What is left are empty leases, which end by themselves; sooner is kinder to the
                  // server.
                  session_->revoke(holding_lease(claim.owner), by);
                  if (waited != 0 || tombstone) {
                    session_->revoke(waiting_lease(claim.owner), by);
                  }
                  if (held + waited != 0) {
                    done(Released{});
                  } else {
                    done(NotOwner{});
                  }
                });
}

void EtcdStore::close() noexcept {
  if (session_) {
    watches_.reset();
    session_->close();
  }
}

}  // namespace holdfast::etcd
