// C34 in the library: an error while acquiring is never a grant, in any face of it, and its kind is
// told. `holdfast run` is in c34_run_test.cpp.
#include <holdfast/holdfast.hpp>

#include "runtime/host.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"

#include <future>
#include <mutex>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

// A store whose every acquire ends as told. Grants nothing, ever.
class FailingStore final : public Store {
 public:
  using Answer = std::function<AcquireReply()>;
  FailingStore(Runtime& runtime, Answer answer) : runtime_(runtime), answer_(std::move(answer)) {}

  Capabilities capabilities() const override { return {.queue = true, .wake_ups = true}; }
  void acquire(const Claim&, Queueing, UniqueFunction<void(AcquireReply)> done) override {
    later(std::move(done), answer_());
  }
  void renew(std::span<const Claim> claims,
             UniqueFunction<void(std::vector<RenewReply>)> done) override {
    later(std::move(done), std::vector<RenewReply>(claims.size(), Gone{}));
  }
  void withdraw(const Claim&, WithdrawOptions, UniqueFunction<void(WithdrawReply)> done) override {
    later(std::move(done), WithdrawReply{NotOwner{}});
  }
  void listen(UniqueFunction<void(const StoreEvent&)>) override {}
  void inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) override {
    later(std::move(done), InspectReply{NameView{name, {}, {}, Fence::none}});
  }
  void list(const std::string&, const std::string&, UniqueFunction<void(ListReply)> done) override {
    later(std::move(done), ListReply{Page{}});
  }
  void break_name(const std::string&, BreakMode, UniqueFunction<void(BreakReply)> done) override {
    later(std::move(done), BreakReply{BreakDone{}});
  }
  void diagnose(UniqueFunction<void(std::vector<Finding>)> done) override {
    later(std::move(done), std::vector<Finding>{});
  }
  void close() noexcept override { alive_.reset(); }

 private:
  template <class Reply>
  void later(UniqueFunction<void(Reply)> done, Reply reply) {
    runtime_.post([weak = std::weak_ptr{alive_}, handler = std::move(done),
                   value = std::move(reply)]() mutable {
      if (weak.lock()) {
        handler(std::move(value));
      }
    });
  }
  Runtime& runtime_;
  Answer answer_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

class FailingFactory final : public StoreFactory {
 public:
  explicit FailingFactory(FailingStore::Answer answer) : answer_(std::move(answer)) {}
  std::unique_ptr<Store> open(Runtime& runtime) override {
    return std::make_unique<FailingStore>(runtime, answer_);
  }
  std::string url() const override { return "failing:"; }

 private:
  FailingStore::Answer answer_;
};

constexpr int runs = 20;

// Every face of acquiring, once each: what the protected code would have seen.
void expect_never_inside(Client& client, std::error_code expected) {
  Mutex mutex{client, "job", {.ttl = 1s}};
  bool inside = false;
  std::error_code ec;
  if (const Lease lease = mutex.acquire({.timeout = 0s}, ec)) {
    inside = true;
  }
  EXPECT_EQ(ec, expected) << ec.message();
  EXPECT_FALSE(mutex.try_acquire(ec).has_value());
  EXPECT_EQ(ec, expected) << ec.message();
  try {
    const Lease lease = mutex.acquire({.timeout = 0s});
    inside = true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected);
  }
  try {
    const std::unique_lock lock{mutex, 0s};
    inside = lock.owns_lock();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected);
  }
  std::promise<std::error_code> told;
  mutex.start_acquire({.timeout = 0s}, [&](std::error_code code, Lease lease) {
    inside = inside || lease;
    told.set_value(code);
  });
  EXPECT_EQ(told.get_future().get(), expected);
  EXPECT_FALSE(inside) << expected.message();
  EXPECT_EQ(client.counters().granted, 0U);
  EXPECT_EQ(client.counters().held, 0U);
}

TEST(C34Library, NoErrorIsAGrant) {
  for (const errc code :
       {errc::store_unavailable, errc::outcome_unknown, errc::access_denied, errc::unsupported,
        errc::invalid_options, errc::format_too_new, errc::storage_unsafe}) {
    for (const bool may_have_had_effect : {false, true}) {
      Client client{std::make_shared<FailingFactory>([&] {
                      return Failed{code, may_have_had_effect, "as told"};
                    }),
                    make_host()};
      for (int i = 0; i < runs / 2; ++i) {
        expect_never_inside(client, code);
      }
    }
  }
}

// Errors that are permanent end a wait at once; those that may pass are tried to the deadline.
TEST(C34Library, OnlyWhatMayPassIsTriedAgain) {
  for (const errc code : {errc::store_unavailable, errc::outcome_unknown, errc::access_denied,
                          errc::storage_unsafe}) {
    Client client{std::make_shared<FailingFactory>([&] {
                    return Failed{code, false, "as told"};
                  }),
                  make_host()};
    Mutex mutex{client, "job"};
    std::error_code ec;
    const Instant start = BootClock::now();
    const Lease none = mutex.acquire({.timeout = 300ms}, ec);
    const Duration took = BootClock::now() - start;
    EXPECT_EQ(ec, code);
    if (make_error_code(code) == failure::transient) {
      EXPECT_GE(took, 300ms);
    } else {
      EXPECT_LE(took, 250ms);
    }
  }
}

TEST(C34Library, NoMemoryIsNoGrant) {
  Client client{std::make_shared<FailingFactory>([]() -> AcquireReply { throw std::bad_alloc{}; }),
                make_host()};
  Mutex mutex{client, "job"};
  bool inside = false;
  for (int i = 0; i < runs; ++i) {
    try {
      const Lease lease = mutex.acquire({.timeout = 0s});
      inside = true;
    } catch (const std::bad_alloc&) {
      continue;
    } catch (const Error&) {
      continue;
    }
  }
  EXPECT_FALSE(inside);
  EXPECT_EQ(client.counters().granted, 0U);
}

// A grant whose answer came too late to be believed in is none either.
TEST(C34Library, AnExpiredGrantIsNone) {
  Client client{std::make_shared<FailingFactory>([]() -> AcquireReply {
                  return Granted{Fence{7}, Fence{7}, Duration{0}};
                }),
                make_host()};
  expect_never_inside(client, errc::outcome_unknown);
}

class C34Busy : public OnEveryStore {};

TEST_P(C34Busy, TheBlockDoesNotRunWhileAnotherHolds) {
  const auto a = store().connect();
  const auto b = store().connect();
  const Lease held = Mutex{*b, "job", {.ttl = 30s}}.acquire({.timeout = 5s});
  Mutex mutex{*a, "job", {.ttl = 30s}};
  for (int i = 0; i < runs; ++i) {
    const std::unique_lock lock{mutex, std::try_to_lock};
    ASSERT_FALSE(lock.owns_lock());
    const std::unique_lock patient{mutex, 5ms};
    ASSERT_FALSE(patient.owns_lock());
  }
}

CASE_ON_EVERY_STORE(C34Busy);

}  // namespace
}  // namespace holdfast::chaos
