// The Store over one Redis server. One verb is one script and one round trip.
#pragma once

#include <holdfast/store.hpp>

#include "runtime/event_loop.hpp"
#include "store/redis/link.hpp"
#include "store/redis/settings.hpp"
#include "store/redis/wake_listener.hpp"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::redis {

class RedisStore final : public Store {
 public:
  static constexpr std::size_t renew_batch = 100;  // names a script: 0.2 ms of the server's time

  RedisStore(EventLoop& loop, std::shared_ptr<const Settings> settings,
             std::unique_ptr<Locator> locator);

  Capabilities capabilities() const override;
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
  Instant deadline() const { return loop_.now() + settings_->op_timeout; }
  struct Attempt {
    Request request;
    OwnerId owner;
    std::uint32_t limit;
    Instant by;
  };
  void send_acquire(Attempt attempt, UniqueFunction<void(AcquireReply)> done);
  void ask_info(Instant by, UniqueFunction<void(std::vector<Finding>)> done);
  void inspect_by(const std::string& name, Instant by, UniqueFunction<void(InspectReply)> done);

  // A handler that gives `done` what `parse` makes of the reply. A reply that `parse` does not
  // understand ends the connection that it came from.
  template <class Result, class Parse>
  Link::Handler answer_with(UniqueFunction<void(Result)> done, Parse parse) {
    return [this, done = std::move(done), parse = std::move(parse)](Outcome outcome) mutable {
      if (auto* failed = std::get_if<Failed>(&outcome)) {
        done(Result{std::move(*failed)});
        return;
      }
      if (auto result = parse(std::get<Reply>(outcome))) {
        done(Result{*std::move(result)});
        return;
      }
      link_.distrust_answering_peer();
      done(Result{failed_with(errc::outcome_unknown, settings_->commands.place,
                              "an answer that makes no sense", true)});
    };
  }

  EventLoop& loop_;
  std::shared_ptr<const Settings> settings_;
  std::unique_ptr<Locator> locator_;
  Link link_;
  UniqueFunction<void(const StoreEvent&)> listener_{};
  std::unique_ptr<WakeListener> wakes_{};  // only of the store that listens
};

}  // namespace holdfast::redis
