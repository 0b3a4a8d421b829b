// The fixture of the store conformance suite: a store with blocking verbs, what its listener heard,
// and time that passes while the lane runs.
#pragma once

#include "tests/conformance/place.hpp"

#include <holdfast/store.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::conformance {

using namespace std::chrono_literals;

// One store instance as the tests speak to it: each verb runs the lane until the answer is there.
class Speaker {
 public:
  enum class Listening : std::uint8_t { no, yes };
  Speaker(Lane& lane, std::unique_ptr<Store> store, Listening listening);
  Speaker(const Speaker&) = delete;
  Speaker& operator=(const Speaker&) = delete;
  ~Speaker() = default;

  Store& store() { return *store_; }
  void close() { store_.reset(); }

  AcquireReply acquire(const Claim& claim, Store::Queueing queueing = Store::Queueing::no);
  AcquireAllReply acquire_all(std::span<const Claim> claims);
  std::vector<RenewReply> renew(std::span<const Claim> claims);
  RenewReply renew(const Claim& claim) { return renew(std::span{&claim, 1}).at(0); }
  AmendReply amend(const Claim& claim);
  WithdrawReply withdraw(const Claim& claim, WithdrawOptions options = {});
  NameView inspect(const std::string& name);
  Page list(const std::string& prefix = {}, const std::string& cursor = {});
  std::vector<NameView> list_all(const std::string& prefix = {});  // every page
  BreakDone break_name(const std::string& name, BreakMode mode = BreakMode::ask_holder);

  // The verbs in the one way they should end; anything else is a failure of the test.
  Granted grant(const Claim& claim);
  Queued queue(const Claim& claim);
  Busy busy(const Claim& claim, Store::Queueing queueing = Store::Queueing::no);
  void release(const Claim& claim, WithdrawOptions options = {});
  AllGranted grant_all(const std::vector<Claim>& claims);
  AllBusy all_busy(const std::vector<Claim>& claims);
  void expect_done(const Claim& claim, Store::Queueing queueing = Store::Queueing::no);
  void expect_invalid(const Claim& claim, Store::Queueing queueing = Store::Queueing::no);

  const std::vector<StoreEvent>& heard() const { return heard_; }
  // Runs the lane until the hand-off to `owner` was heard; throws after two seconds.
  HandedOff await_hand_off(const OwnerId& owner);
  bool has_heard_hand_off(const OwnerId& owner) const { return find_hand_off(owner).has_value(); }
  bool await_broken(const OwnerId& owner);
  bool await_hint(const OwnerId& owner);  // MaybeFree

 private:
  template <class Reply, class Send>
  Reply ask(Send send);
  bool run_until(const std::function<bool()>& done, Duration at_most);
  std::optional<HandedOff> find_hand_off(const OwnerId& owner) const;

  Lane& lane_;
  std::unique_ptr<Store> store_;
  std::vector<StoreEvent> heard_{};
};

// No store's clock is coarser than this.
inline constexpr Duration grain = 1ms;

class StoreTest : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override;

  // An attempt of a new owner.
  Claim claim(const std::string& name = "job", Duration ttl = 30s);
  Claim waiter(const std::string& name, Duration liveness, Duration ttl = 30s);
  Claim reader(const std::string& name = "job", Duration ttl = 30s);
  Claim permit(std::uint32_t limit, std::uint32_t permits = 1, Duration ttl = 30s);  // of "pool"
  // Runs the lane while `time` passes.
  void pass(Duration time);
  // Runs the lane until `done` holds, or for `at_most`. Says whether it holds.
  bool run_until(const std::function<bool()>& done, Duration at_most);
  Instant now() { return place_->lane().now(); }
  // Asks as `claim` until it is granted; returns when that was told. Throws after five seconds.
  Instant until_granted(const Claim& claim);

  Place& place() { return *place_; }
  Speaker& store() { return *store_; }  // listens
  Speaker& second();                    // another instance of the same client; does not
  Speaker elsewhere();                  // of another client; listens

  static bool is_gone(const RenewReply& reply, GoneReason reason);
  static bool is_renewed(const RenewReply& reply) { return std::holds_alternative<Renewed>(reply); }
  std::vector<OwnerId> waiters(const std::string& name);
  std::vector<OwnerId> holders(const std::string& name);  // in the order of their fences
  std::optional<Holder> holder(const std::string& name);

 private:
  std::unique_ptr<Place> place_{};
  std::unique_ptr<Speaker> store_{};
  std::unique_ptr<Speaker> second_{};
};

}  // namespace holdfast::conformance

// In a test or SetUp(): skips it on a store that does not know `what`, a member of Capabilities.
#define HOLDFAST_STORE_KNOWS(what)                          \
  if (!IsSkipped() && !store().store().capabilities().what) \
  GTEST_SKIP() << "this store's capabilities lack: " #what

// Runs `suite` on every kind of store.
#define HOLDFAST_ON_EVERY_STORE(suite)                                                       \
  INSTANTIATE_TEST_SUITE_P(On, suite, ::testing::ValuesIn(::holdfast::conformance::kinds()), \
                           ::holdfast::conformance::kind_name)
