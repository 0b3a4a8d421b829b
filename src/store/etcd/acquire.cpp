// acquire(): a lease, a key bound to it, and a look at whose turn it is.
#include <holdfast/error.hpp>

#include "store/etcd/attempt.hpp"
#include "store/etcd/people_clock.hpp"

#include <algorithm>

namespace holdfast::etcd {

namespace {

// Time alone frees a name when its lease ends, which only etcd knows; a waiter is told by its
// watch.
constexpr Duration recheck_max = std::chrono::seconds{5};

Duration recheck_in(const std::optional<Contender>& first) {
  if (!first || !first->record) {
    return recheck_max;
  }
  return std::clamp<Duration>(std::chrono::milliseconds{first->record->ttl_ms},
                              std::chrono::seconds{1}, recheck_max);
}

}  // namespace

void EtcdStore::acquire(const Claim& claim, Queueing queueing,
                        UniqueFunction<void(AcquireReply)> done) {
  if (claim.min_hold > Duration::zero()) {
    session_->later([done = std::move(done)]() mutable {
      done(Failed{errc::unsupported, false, "the etcd store cannot keep a lease for min_hold"});
    });
    return;
  }
  auto attempt = std::make_shared<Attempt>(claim, queueing, deadline(), std::move(done));
  if (queued_.contains(claim.owner)) {
    beat(attempt);
  } else {
    have_holding_lease(attempt, &EtcdStore::put_if_alone);
  }
}

// Asked twice, the second is told that it exists: then it is ours, and is kept alive instead.
void EtcdStore::have_holding_lease(const AttemptPtr& attempt, Next next) {
  const std::int64_t lease = holding_lease(attempt->claim.owner);
  session_->grant(lease, whole_seconds(kept_for(attempt->claim)), attempt->by,
                  [this, attempt, next, lease](const grpc::Status& status,
                                               const rpc::LeaseGrantResponse& made) {
                    if (status.ok()) {
                      attempt->seconds = made.ttl();
                      (this->*next)(attempt);
                    } else if (is_existing_lease(status)) {
                      session_->keep_alive(
                          lease, attempt->by,
                          [this, attempt, next](const grpc::Status& why, const auto& kept) {
                            attempt->seconds = kept.ttl();
                            if (!why.ok()) {
                              attempt->done(failed(why));
                            } else if (kept.ttl() <= 0) {  // it ended in between
                              attempt->done(Failed{errc::store_unavailable, true,
                                                   settings_->place + ": the lease ended"});
                            } else {
                              (this->*next)(attempt);
                            }
                          });
                    } else {
                      attempt->done(failed(status));
                    }
                  });
}

void EtcdStore::put_if_alone(const AttemptPtr& attempt) {
  const Claim& claim = attempt->claim;
  const std::int64_t lease = holding_lease(claim.owner);
  rpc::TxnRequest request;
  *request.add_compare() = all_absent(settings_->keys.folder(claim.name));
  *request.add_compare() = absent(settings_->keys.tombstone(claim.owner));
  *request.add_success() = put(settings_->keys.contender(claim.name, lease),
                               record_of(claim, Record::State::held), lease);
  add_look(request.mutable_failure(), settings_->keys, claim);
  session_->txn(std::move(request), attempt->by,
                [this, attempt](const grpc::Status& status, const rpc::TxnResponse& answer) {
                  if (!status.ok()) {
                    attempt->done(failed(status));
                  } else if (answer.succeeded()) {
                    granted(attempt, answer.header().revision());
                  } else {
                    judge(attempt, sight_of(answer, 0));
                  }
                });
}

void EtcdStore::beat(const AttemptPtr& attempt) {
  session_->keep_alive(
      waiting_lease(attempt->claim.owner), attempt->by,
      [this, attempt](const grpc::Status& status, const rpc::LeaseKeepAliveResponse& kept) {
        if (!status.ok()) {
          attempt->done(failed(status));
          return;
        }
        if (kept.ttl() <= 0) {  // we were given up for dead
          queued_.erase(attempt->claim.owner);
          have_holding_lease(attempt, &EtcdStore::put_if_alone);
          return;
        }
        rpc::TxnRequest request;
        add_look(request.mutable_success(), settings_->keys, attempt->claim);
        session_->txn(std::move(request), attempt->by,
                      [this, attempt](const grpc::Status& why, const rpc::TxnResponse& answer) {
                        if (why.ok()) {
                          judge(attempt, sight_of(answer, 0));
                        } else {
                          attempt->done(failed(why));
                        }
                      });
      });
}

void EtcdStore::judge(const AttemptPtr& attempt, const Sight& sight) {
  const OwnerId& owner = attempt->claim.owner;
  switch (standing_of(sight, owner)) {
    case Standing::withdrawn:
    case Standing::broken:
      queued_.erase(owner);
      busy(attempt, sight.first);
      return;
    case Standing::holds:
    case Standing::first:
      if (attempt->seconds > 0) {
        promote(attempt);
      } else {
        have_holding_lease(attempt, &EtcdStore::promote);
      }
      return;
    case Standing::behind:
      if (attempt->queueing == Queueing::yes) {
        queued(attempt, ours_of(sight, owner)->create_revision, sight.first);
      } else {
        busy(attempt, sight.first);
      }
      return;
    case Standing::absent:
      queued_.erase(owner);
      if (attempt->queueing == Queueing::yes) {
        enqueue(attempt);
      } else {
        busy(attempt, sight.first);
      }
      return;
  }
}

// Our key is the first, and stays so while it stands. In one step: it still stands, nobody gave us
// up, and it is bound to the holding lease.
void EtcdStore::promote(const AttemptPtr& attempt) {
  const Claim& claim = attempt->claim;
  rpc::TxnRequest request;
  add_look(request.mutable_success(), settings_->keys, claim);
  session_->txn(
      std::move(request), attempt->by,
      [this, attempt](const grpc::Status& status, const rpc::TxnResponse& answer) {
        if (!status.ok()) {
          attempt->done(failed(status));
          return;
        }
        const Sight sight = sight_of(answer, 0);
        const Standing standing = standing_of(sight, attempt->claim.owner);
        if (standing == Standing::holds) {
          granted(attempt, sight.first->create_revision);
          return;
        }
        if (standing != Standing::first) {
          judge(attempt, sight);
          return;
        }
        rpc::TxnRequest bind;
        *bind.add_compare() = unchanged_since(sight.first->key, sight.first->mod_revision);
        *bind.add_compare() = absent(settings_->keys.tombstone(attempt->claim.owner));
        *bind.add_success() = put(sight.first->key, record_of(attempt->claim, Record::State::held),
                                  holding_lease(attempt->claim.owner));
        const std::int64_t fence = sight.first->create_revision;
        session_->txn(std::move(bind), attempt->by,
                      [this, attempt, fence](const grpc::Status& why, const auto& bound) {
                        if (!why.ok()) {
                          attempt->done(failed(why));
                        } else if (bound.succeeded()) {
                          granted(attempt, fence);
                        } else {
                          queued_.erase(attempt->claim.owner);
                          busy(attempt, std::nullopt);
                        }
                      });
      });
}

void EtcdStore::enqueue(const AttemptPtr& attempt) {
  const std::int64_t lease = waiting_lease(attempt->claim.owner);
  session_->grant(lease, whole_seconds(attempt->claim.liveness), attempt->by,
                  [this, attempt](const grpc::Status& status, const auto&) {
                    if (status.ok() || is_existing_lease(status)) {
                      put_behind(attempt);
                    } else {
                      attempt->done(failed(status));
                    }
                  });
}

void EtcdStore::put_behind(const AttemptPtr& attempt) {
  const Claim& claim = attempt->claim;
  const std::int64_t lease = waiting_lease(claim.owner);
  const std::string key = settings_->keys.contender(claim.name, lease);
  rpc::TxnRequest request;
  *request.add_compare() = absent(key);
  *request.add_compare() = absent(settings_->keys.tombstone(claim.owner));
  *request.add_success() = put(key, record_of(claim, Record::State::waiting), lease);
  *request.add_success() = get(first_in(settings_->keys.folder(claim.name)));
  add_look(request.mutable_failure(), settings_->keys, claim);
  session_->txn(std::move(request), attempt->by,
                [this, attempt](const grpc::Status& status, const rpc::TxnResponse& answer) {
                  if (!status.ok()) {
                    attempt->done(failed(status));
                    return;
                  }
                  if (!answer.succeeded()) {
                    const Sight sight = sight_of(answer, 0);
                    if (standing_of(sight, attempt->claim.owner) == Standing::absent) {
                      busy(attempt, sight.first);  // a key of another owner's: never, by chance
                    } else {
                      judge(attempt, sight);
                    }
                    return;
                  }
                  const auto first = first_of(answer.responses(1));
                  if (first && first->create_revision == answer.header().revision()) {
                    promote(attempt);
                  } else {
                    queued(attempt, answer.header().revision(), first);
                  }
                });
}

void EtcdStore::granted(const AttemptPtr& attempt, std::int64_t fence) {
  const Claim& claim = attempt->claim;
  if (queued_.erase(claim.owner) != 0) {
    client_->ears()->with([owner = claim.owner](WakeWatches& ears) { ears.drop(owner); });
    session_->revoke(waiting_lease(claim.owner), attempt->by);
  }
  if (claim.max_hold > Duration::zero()) {
    granted_.try_emplace(claim.owner, runtime_.now() - settings_->op_timeout);
  }
  const Duration kept = std::chrono::seconds{attempt->seconds};
  Duration ttl = kept - claim.lock_delay;
  if (claim.max_hold > Duration::zero()) {
    ttl = std::min(ttl, claim.max_hold);
  }
  attempt->done(Granted{Fence{fence}, Fence{fence}, ttl});
}

void EtcdStore::queued(const AttemptPtr& attempt, std::int64_t turn,
                       const std::optional<Contender>& first) {
  const Claim& claim = attempt->claim;
  queued_.insert(claim.owner);
  client_->ears()->with(
      [owner = claim.owner, folder = settings_->keys.folder(claim.name), turn,
       by = attempt->by](WakeWatches& ears) { ears.add(owner, folder, turn, by); });
  Queued reply;
  reply.recheck_in = recheck_in(first);
  if (first) {
    reply.holder = holder_of(*first, unix_ms());
    reply.last_fence = Fence{first->create_revision};
  }
  attempt->done(std::move(reply));
}

void EtcdStore::busy(const AttemptPtr& attempt, const std::optional<Contender>& first) {
  Busy reply;
  reply.recheck_in = recheck_in(first);
  if (first) {
    reply.holder = holder_of(*first, unix_ms());
  }
  attempt->done(std::move(reply));
}

}  // namespace holdfast::etcd
