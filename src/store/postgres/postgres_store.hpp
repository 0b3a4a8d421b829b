// The Store over PostgreSQL, mode=lease: rows that the server's clock judges. One verb is one
// statement, so nothing depends on which session runs it.
#pragma once

#include <holdfast/store.hpp>

#include "runtime/event_loop.hpp"
#include "store/postgres/link.hpp"
#include "store/postgres/settings.hpp"
#include "store/postgres/wake_listener.hpp"

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::postgres {

class PostgresStore final : public Store {
 public:
  static constexpr std::size_t renew_batch = 100;  // names a statement

  PostgresStore(EventLoop& loop, std::shared_ptr<const Settings> settings);

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

  // Sends `query` and gives `done` what `parse` makes of its rows.
  template <class Result, class Parse>
  void ask(Query query, Instant by, UniqueFunction<void(Result)> done, Parse parse) {
    link_.send(
        std::move(query), by,
        [this, done = std::move(done), parse = std::move(parse)](Link::Answer answer) mutable {
          if (auto* failed = std::get_if<Failed>(&answer)) {
            done(Result{std::move(*failed)});
          } else if (auto result = parse(std::get<Table>(answer))) {
            done(Result{*std::move(result)});
          } else {
            done(Result{Failed{errc::outcome_unknown, true,
                               settings_->server.text() + ": an answer that makes no sense"}});
          }
        });
  }

  EventLoop& loop_;
  std::shared_ptr<const Settings> settings_;
  Link link_;
  UniqueFunction<void(const StoreEvent&)> listener_{};
  std::unique_ptr<WakeListener> wakes_{};  // only of the store that listens
};

}  // namespace holdfast::postgres
