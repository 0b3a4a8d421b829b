// C34 in the library: an error while acquiring is never a grant, in any face of it, and its kind is
// told. `holdfast run` is in c34_run_test.cpp.
#include "runtime/host.hpp"
#include "tests/chaos/lock_form.hpp"
#include "tests/chaos/soak.hpp"

#include <future>
#include <mutex>
#include <set>
#include <shared_mutex>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;

// A store whose every acquire ends as told. Grants nothing, ever.
class FailingStore final : public Store {
 public:
  using Answer = std::function<AcquireReply()>;
  FailingStore(Runtime& runtime, Answer answer) : runtime_(runtime), answer_(std::move(answer)) {}

  Capabilities capabilities() const override {
    return {.queue = true, .wake_ups = true, .shared = true, .permits = true};
  }
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

// The faces that give a lease, once each.
bool is_inside(AnyLock& lock, std::error_code expected) {
  bool inside = false;
  std::error_code ec;
  if (const Lease lease = lock.acquire({.timeout = 0s}, ec)) {
    inside = true;
  }
  EXPECT_EQ(ec, expected) << ec.message();
  inside = inside || lock.try_acquire(ec).has_value();
  EXPECT_EQ(ec, expected) << ec.message();
  std::promise<std::error_code> told;
  lock.start_acquire({.timeout = 0s}, [&](std::error_code code, Lease lease) {
    inside = inside || lease;
    told.set_value(code);
  });
  EXPECT_EQ(told.get_future().get(), expected);
  return inside;
}

// What `enter` says, which must throw instead.
template <class Enter>
bool is_inside(Enter enter, std::error_code expected) {
  try {
    return enter();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected);
    return false;
  }
}

// Every face of acquiring, once each: what the protected code would have seen.
void expect_never_inside(Client& client, std::error_code expected) {
  const LeaseOptions options{.ttl = 1s};
  for (const Form form : every_form) {
    const auto lock = make_lock(client, "job", form, Part::tried, options);
    EXPECT_FALSE(is_inside(*lock, expected)) << form_word(form) << ": " << expected.message();
  }
  Mutex mutex{client, "job", options};
  SharedMutex shared{client, "job", options};
  Semaphore semaphore{client, "job", 3, options};
  RecursiveMutex recursive{client, "job", options};
  const auto expect_none = [&](auto enter) { EXPECT_FALSE(is_inside(enter, expected)); };
  expect_none([&] { return static_cast<bool>(mutex.acquire({.timeout = 0s})); });
  expect_none([&] { return static_cast<bool>(shared.acquire_shared({.timeout = 0s})); });
  expect_none([&] { return static_cast<bool>(semaphore.acquire({.timeout = 0s}, 2)); });
  expect_none([&] { return std::unique_lock{mutex, 0s}.owns_lock(); });
  expect_none([&] { return std::unique_lock{shared, 0s}.owns_lock(); });
  expect_none([&] { return std::shared_lock{shared, std::try_to_lock}.owns_lock(); });
  expect_none([&] { return std::unique_lock{recursive, std::try_to_lock}.owns_lock(); });
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

class C34Busy : public OnEveryForm {};

TEST_P(C34Busy, TheBlockDoesNotRunWhileAnotherHolds) {
  const auto a = store().connect();
  const auto b = store().connect();
  const auto theirs = make_lock(*b, "job", form(), Part::in_the_way, {.ttl = 30s});
  const auto ours = make_lock(*a, "job", form(), Part::tried, {.ttl = 30s});
  const Lease held = theirs->acquire({.timeout = 5s});
  for (int i = 0; i < runs; ++i) {
    std::error_code ec;
    ASSERT_FALSE(ours->try_acquire(ec).has_value());
    ASSERT_FALSE(ec) << ec.message();
    ASSERT_FALSE(ours->acquire({.timeout = 5ms}, ec));
    ASSERT_EQ(ec, failure::not_acquired);
  }
}

class C34StandardLocks : public OnEveryStore {};

TEST_P(C34StandardLocks, TheBlockDoesNotRunWhileAnotherHolds) {
  const auto a = store().connect();
  const auto b = store().connect();
  const Lease held = Mutex{*b, "job", {.ttl = 30s}}.acquire({.timeout = 5s});
  Mutex mutex{*a, "job", {.ttl = 30s}};
  SharedMutex shared{*a, "job", {.ttl = 30s}};
  // A store that commits to disk may take longer than 5 ms to say "busy"; to hear nothing in time
  // is another answer.
  const std::set<std::string> quick{"memory", "sqlite", "redis"};
  const Duration patience = quick.contains(GetParam()) ? 5ms : 200ms;
  for (int i = 0; i < (patience == 5ms ? runs : 3); ++i) {
    const std::unique_lock lock{mutex, std::try_to_lock};
    ASSERT_FALSE(lock.owns_lock());
    const std::unique_lock patient{mutex, patience};
    ASSERT_FALSE(patient.owns_lock());
    const std::shared_lock reader{shared, patience};
    ASSERT_FALSE(reader.owns_lock());
  }
}

CASE_ON_EVERY_FORM(C34Busy);
CASE_ON_EVERY_STORE(C34StandardLocks);

}  // namespace
}  // namespace holdfast::chaos
