// A Store that does nothing by itself: it keeps each request until the test answers it.
//
//   auto store = std::make_unique<ScriptedStore>(runtime);
//   ScriptedStore& script = *store;
//   …
//   script.answer(Granted{Fence{5}, Fence{5}, 30s});   // the oldest acquire
#pragma once

#include <holdfast/store.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::test {

class ScriptedStore final : public Store {
 public:
  struct Asked {
    enum class Verb : std::uint8_t { acquire, acquire_all, renew, withdraw };
    Verb verb = Verb::acquire;
    std::vector<Claim> claims{};  // one, all of them, or a batch of renewals
    Queueing queueing = Queueing::no;
    WithdrawOptions options{};
    UniqueFunction<void(AcquireReply)> acquired{};
    UniqueFunction<void(AcquireAllReply)> all_acquired{};
    UniqueFunction<void(std::vector<RenewReply>)> renewed{};
    UniqueFunction<void(WithdrawReply)> withdrawn{};

    const Claim& claim() const { return claims.at(0); }
  };

  Capabilities capabilities() const override { return {.queue = true, .wake_ups = true}; }
  void acquire(const Claim& claim, Queueing queueing,
               UniqueFunction<void(AcquireReply)> done) override;
  void acquire_all(std::span<const Claim> claims,
                   UniqueFunction<void(AcquireAllReply)> done) override;
  void renew(std::span<const Claim> claims,
             UniqueFunction<void(std::vector<RenewReply>)> done) override;
  void withdraw(const Claim& claim, WithdrawOptions options,
                UniqueFunction<void(WithdrawReply)> done) override;
  void listen(UniqueFunction<void(const StoreEvent&)> listener) override;
  void inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) override;
  void list(const std::string& prefix, const std::string& cursor,
            UniqueFunction<void(ListReply)> done) override;
  void break_name(const std::string& name, BreakMode mode,
                  UniqueFunction<void(BreakReply)> done) override;
  void diagnose(UniqueFunction<void(std::vector<Finding>)> done) override;
  void close() noexcept override { asked_.clear(); }

  // Unanswered requests, oldest first.
  const std::deque<Asked>& asked() const noexcept { return asked_; }
  std::size_t count(Asked::Verb verb) const;
  // Called with each request as it comes in.
  UniqueFunction<void(const Asked&)> on_asked{};

  // Answer the oldest request of the reply's verb. Throw std::logic_error if there is none.
  void answer(const AcquireReply& reply);
  void answer_all(const AcquireAllReply& reply);
  void answer(const RenewReply& reply);  // every claim of the batch alike
  void answer(const std::vector<RenewReply>& replies);
  void answer(const WithdrawReply& reply);

  void tell(const StoreEvent& event) { listener_(event); }

 private:
  void keep(Asked asked);
  Asked take(Asked::Verb verb);

  std::deque<Asked> asked_{};
  UniqueFunction<void(const StoreEvent&)> listener_{};
};

}  // namespace holdfast::test
