// The Store of a lock file. See README.md for tables and promises.
#pragma once

#include "store/sqlite/crowd.hpp"
#include "store/sqlite/request_queue.hpp"
#include "store/sqlite/session.hpp"
#include "store/sqlite/settings.hpp"
#include "store/sqlite/wake_listener.hpp"

#include <holdfast/store.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::sqlite {

class SqliteStore final : public Store {
 public:
  SqliteStore(Runtime& runtime, std::shared_ptr<const Settings> settings,
              std::shared_ptr<Crowd> crowd);
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;
  ~SqliteStore() override { close(); }

  Capabilities capabilities() const override {
    return {.queue = true,
            .wake_ups = true,
            .shared = true,
            .permits = true,
            .at_once = true,
            .runs = true,
            .values = true};
  }

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
  Session& session();
  std::optional<Failed> explain();
  AcquireReply acquire_now(const Claim& claim, Queueing queueing);
  std::vector<RenewReply> renew_now(std::span<const Claim> batch);
  template <class Reply>
  void submit(UniqueFunction<Reply()> step, UniqueFunction<void(Reply)> done);

  Runtime& runtime_;
  std::shared_ptr<const Settings> settings_;
  std::shared_ptr<Crowd> crowd_;
  std::unique_ptr<Session> session_{};
  bool had_session_ = false;
  RequestQueue requests_;
  std::shared_ptr<WakeListener> listener_{};
};

}  // namespace holdfast::sqlite
