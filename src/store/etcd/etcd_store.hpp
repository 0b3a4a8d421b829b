// The Store over an etcd cluster. Exclusive leases, a queue in the order of arrival, values.
#pragma once

#include <holdfast/store.hpp>

#include "store/etcd/requests.hpp"
#include "store/etcd/session.hpp"
#include "store/etcd/settings.hpp"
#include "store/etcd/wake_watches.hpp"

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace holdfast::etcd {

class EtcdStore final : public Store {
 public:
  EtcdStore(Runtime& runtime, std::shared_ptr<const Settings> settings,
            std::shared_ptr<Client> client);
  ~EtcdStore() override { close(); }

  Capabilities capabilities() const override;
  void acquire(const Claim& claim, Queueing queueing,
               UniqueFunction<void(AcquireReply)> done) override;
  void renew(std::span<const Claim> claims,
             UniqueFunction<void(std::vector<RenewReply>)> done) override;
  void amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) override;
  void withdraw(const Claim& claim, WithdrawOptions options,
                UniqueFunction<void(WithdrawReply)> done) override;
  void listen(UniqueFunction<void(const StoreEvent&)> listener) override;
  void inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) override;
  void list(const std::string& prefix, const std::string& cursor,
            UniqueFunction<void(ListReply)> done) override;
  void break_name(const std::string& name, BreakMode mode,
                  UniqueFunction<void(BreakReply)> done) override;
  void diagnose(UniqueFunction<void(std::vector<Finding>)> done) override;
  void close() noexcept override;

 private:
  struct Attempt;
  using AttemptPtr = std::shared_ptr<Attempt>;
  using Next = void (EtcdStore::*)(const AttemptPtr&);

  Instant deadline() const { return runtime_.now() + settings_->op_timeout; }
  Failed failed(const grpc::Status& status) const;

  // acquire.cpp
  void have_holding_lease(const AttemptPtr& attempt, Next next);
  void put_if_alone(const AttemptPtr& attempt);
  void beat(const AttemptPtr& attempt);
  void judge(const AttemptPtr& attempt, const Sight& sight);
  void promote(const AttemptPtr& attempt);
  void enqueue(const AttemptPtr& attempt);
  void put_behind(const AttemptPtr& attempt);
  void granted(const AttemptPtr& attempt, std::int64_t fence);
  void queued(const AttemptPtr& attempt, std::int64_t turn, const std::optional<Contender>& first);
  void busy(const AttemptPtr& attempt, const std::optional<Contender>& first);

  // renew.cpp
  void renew_one(const Claim& claim, UniqueFunction<void(RenewReply)> done);
  void verify(const Claim& claim, Duration ttl, Instant by, UniqueFunction<void(RenewReply)> done);

  void remove_all(const Claim& claim, std::int64_t tombstone_lease, Instant by,
                  UniqueFunction<void(WithdrawReply)> done);

  Runtime& runtime_;
  std::shared_ptr<const Settings> settings_;
  std::shared_ptr<Client> client_;
  std::unique_ptr<Session> session_;
  std::unordered_set<OwnerId> queued_{};            // of those that asked here
  std::unordered_map<OwnerId, Instant> granted_{};  // of those with a max_hold: when
  std::unique_ptr<WakeWatches> watches_{};          // only of the store that listens
};

Record record_of(const Claim& claim, Record::State state);

}  // namespace holdfast::etcd
