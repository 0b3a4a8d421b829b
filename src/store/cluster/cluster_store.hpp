// The Store over a Redis Cluster: the scripts of the Redis store, each sent to the node that serves
// the slot of its name. All keys of a name are in one slot, so one verb is one script here too.
#pragma once

#include <holdfast/store.hpp>

#include "base/gathered_renewal.hpp"
#include "runtime/event_loop.hpp"
#include "store/cluster/router.hpp"
#include "store/cluster/settings.hpp"
#include "store/redis/wake_listener.hpp"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::cluster {

class ClusterStore final : public Store {
 public:
  static constexpr std::size_t renew_batch = 100;  // names a script, all of one slot

  ClusterStore(EventLoop& loop, std::shared_ptr<const Settings> settings);

  Capabilities capabilities() const override;
  bool grants_at_once(std::span<const Claim> claims) const override;
  void acquire(const Claim& claim, Queueing queueing,
               UniqueFunction<void(AcquireReply)> done) override;
  void acquire_all(std::span<const Claim> claims,
                   UniqueFunction<void(AcquireAllReply)> done) override;
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
  struct Diagnosis;

  const redis::Settings& node_settings() const { return settings_->any_node; }
  Instant deadline() const { return loop_.now() + node_settings().op_timeout; }
  Slot slot_of_name(const std::string& name) const {
    return slot_of(node_settings().keys.lock(name));
  }
  void send_acquire(const Claim& claim, bool queue, Instant by,
                    UniqueFunction<void(AcquireReply)> done);
  void send_renewal(Slot slot, std::span<const Claim> claims, GatheredRenewal::Handler collect);
  void scan(const std::string& prefix, const std::string& cursor, Instant by,
            UniqueFunction<void(ListReply)> done);
  void inspect_by(const std::string& name, Instant by, UniqueFunction<void(InspectReply)> done);
  void ask_nodes(const std::shared_ptr<Diagnosis>& diagnosis, Instant by);

  // A handler that gives `done` what `parse` makes of the reply. A reply that `parse` does not
  // understand ends the connection that it came from.
  template <class Result, class Parse>
  Router::Handler answer_with(UniqueFunction<void(Result)> done, Parse parse) {
    return
        [this, done = std::move(done), parse = std::move(parse)](redis::Outcome outcome) mutable {
          if (auto* failed = std::get_if<Failed>(&outcome)) {
            done(Result{std::move(*failed)});
            return;
          }
          if (auto result = parse(std::get<redis::Reply>(outcome))) {
            done(Result{*std::move(result)});
            return;
          }
          router_.distrust_answering_peer();
          done(Result{redis::failed_with(errc::outcome_unknown, node_settings().commands.place,
                                         "an answer that makes no sense", true)});
        };
  }

  // Any node passes wake-ups on: each connection that listens goes to the next one.
  class AnyNode final : public redis::Locator {
   public:
    explicit AnyNode(Router& router) : router_(router) {}
    void locate(bool /*anew*/, UniqueFunction<void(Found)> done) override {
      done(router_.next_node());
    }
    std::uint64_t term() const noexcept override { return 0; }
    void watch(UniqueFunction<void()> /*moved*/) override {}
    void close() noexcept override {}

   private:
    Router& router_;
  };

  EventLoop& loop_;
  std::shared_ptr<const Settings> settings_;
  Router router_;
  AnyNode any_node_{router_};
  UniqueFunction<void(const StoreEvent&)> listener_{};
  std::unique_ptr<redis::WakeListener> wakes_{};  // only of the store that listens
};

}  // namespace holdfast::cluster
