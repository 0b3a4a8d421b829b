// renew(): the lease is kept alive, and then the key is looked at: a key that was removed behind
// our back, or bound to another lease, is no proof of anything.
#include "store/etcd/attempt.hpp"

#include <algorithm>

namespace holdfast::etcd {

void EtcdStore::renew(std::span<const Claim> claims,
                      UniqueFunction<void(std::vector<RenewReply>)> done) {
  struct Batch {
    std::vector<RenewReply> replies{};
    std::size_t left = 0;
    UniqueFunction<void(std::vector<RenewReply>)> done{};
  };
  auto batch = std::make_shared<Batch>();
  batch->replies.resize(claims.size());
  batch->left = claims.size();
  batch->done = std::move(done);
  if (claims.empty()) {
    session_->later([batch] { batch->done({}); });
    return;
  }
  for (std::size_t i = 0; i < claims.size(); ++i) {
    renew_one(claims[i], [batch, i](RenewReply reply) {
      batch->replies[i] = std::move(reply);
      if (--batch->left == 0) {
        batch->done(std::move(batch->replies));
      }
    });
  }
}

void EtcdStore::renew_one(const Claim& claim, UniqueFunction<void(RenewReply)> done) {
  const Instant by = deadline();
  const std::int64_t lease = holding_lease(claim.owner);
  const auto found = granted_.find(claim.owner);
  const bool bounded = claim.max_hold > Duration::zero();
  const bool too_long = bounded && (found == granted_.end() ||
                                    runtime_.now() + claim.ttl > found->second + claim.max_hold);
  const auto judge_ttl = [this, claim, by](UniqueFunction<void(RenewReply)> tell) {
    return [this, claim, by, tell = std::move(tell)](const grpc::Status& status,
                                                     const auto& answer) mutable {
      const Duration left = std::chrono::seconds{answer.ttl()} - claim.lock_delay;
      if (!status.ok() && !is_missing_lease(status)) {
        tell(failed(status));
      } else if (!status.ok() || answer.ttl() <= 0) {
        tell(Gone{GoneReason::taken});
      } else {
        verify(claim, std::max(left, Duration::zero()), by, std::move(tell));
      }
    };
  };
  if (too_long) {  // what it has left is all that it gets
    session_->time_to_live(lease, by, judge_ttl(std::move(done)));
  } else {
    session_->keep_alive(lease, by, judge_ttl(std::move(done)));
  }
}

void EtcdStore::verify(const Claim& claim, Duration ttl, Instant by,
                       UniqueFunction<void(RenewReply)> done) {
  rpc::TxnRequest request;
  add_look(request.mutable_success(), settings_->keys, claim);
  session_->txn(std::move(request), by,
                [this, claim, ttl, done = std::move(done)](const grpc::Status& status,
                                                           const rpc::TxnResponse& answer) mutable {
                  if (!status.ok()) {
                    done(failed(status));
                    return;
                  }
                  const Sight sight = sight_of(answer, 0);
                  const Standing standing = standing_of(sight, claim.owner);
                  if (standing == Standing::broken) {
                    done(Gone{GoneReason::broken});
                  } else if (standing == Standing::holds &&
                             (claim.fence == Fence::none ||
                              to_int(claim.fence) == sight.first->create_revision)) {
                    done(Renewed{ttl});
                  } else {
                    done(Gone{GoneReason::taken});
                  }
                });
}

void EtcdStore::amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) {
  const Instant by = deadline();
  rpc::TxnRequest request;
  add_look(request.mutable_success(), settings_->keys, claim);
  session_->txn(
      std::move(request), by,
      [this, claim, by, done = std::move(done)](const grpc::Status& status,
                                                const rpc::TxnResponse& answer) mutable {
        if (!status.ok()) {
          done(failed(status));
          return;
        }
        const Sight sight = sight_of(answer, 0);
        const Standing standing = standing_of(sight, claim.owner);
        if (standing != Standing::holds) {
          done(Gone{standing == Standing::broken ? GoneReason::broken : GoneReason::taken});
          return;
        }
        Record record = *sight.first->record;
        record.value = claim.value;
        rpc::TxnRequest change;
        *change.add_compare() = unchanged_since(sight.first->key, sight.first->mod_revision);
        *change.add_success() = put_again(sight.first->key, record);
        session_->txn(std::move(change), by,
                      [this, claim, done = std::move(done)](
                          const grpc::Status& why, const rpc::TxnResponse& changed) mutable {
                        if (!why.ok()) {
                          done(failed(why));
                        } else if (changed.succeeded()) {
                          done(Amended{});
                        } else {  // an operator was quicker: look again
                          amend(claim, std::move(done));
                        }
                      });
      });
}

}  // namespace holdfast::etcd
