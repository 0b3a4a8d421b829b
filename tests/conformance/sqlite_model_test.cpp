// Random conversations: the SQLite store and LockTable, the model of all stores, must answer alike.
#include "store/memory/lock_table.hpp"
#include "tests/conformance/sqlite_fixture.hpp"

#include <map>
#include <random>

namespace holdfast::sqlite_tests {
namespace {

std::int64_t unix_us_now = 0;  // the wall clock of both sides

// Time stands still but for what the test adds; everything posted runs when asked.
class StillRuntime final : public Runtime {
 public:
  Instant now() const override { return time; }
  TimerId call_at(Instant, UniqueFunction<void()>) override { return ++timers_; }
  void cancel(TimerId) noexcept override {}
  void post(UniqueFunction<void()> callback) override { posted_.push_back(std::move(callback)); }
  void post_by(Instant, UniqueFunction<void()> callback) override { post(std::move(callback)); }
  void random_bytes(std::span<std::uint8_t> bytes) override {
    std::ranges::fill(bytes, std::uint8_t{7});
  }
  void run() {
    while (!posted_.empty()) {
      auto callbacks = std::exchange(posted_, {});
      for (auto& callback : callbacks) callback();
    }
  }

  Instant time{std::chrono::hours{1}};

 private:
  TimerId timers_ = 0;
  std::vector<UniqueFunction<void()>> posted_{};
};

std::string text(const std::optional<Holder>& holder) {
  if (!holder) return "nobody";
  return holder->owner.text().substr(0, 2) + " for " + std::to_string(holder->held_for.count()) +
         " left " + std::to_string(holder->ttl_left.count()) + " " + holder->who.note +
         (holder->broken && !holder->released ? " broken" : "") +
         (holder->released ? " released" : "");
}

template <class Reply>
std::string text_of(const Reply& reply) {
  return std::visit(
      [](const auto& r) -> std::string {
        using T = std::decay_t<decltype(r)>;
        if constexpr (std::same_as<T, Granted>) {
          return "granted ttl " + std::to_string(r.ttl.count());
        } else if constexpr (std::same_as<T, Queued>) {
          return "queued " + std::to_string(r.recheck_in.count()) + " behind " + text(r.holder);
        } else if constexpr (std::same_as<T, Busy>) {
          return "busy " + std::to_string(r.recheck_in.count()) + " " + text(r.holder);
        } else if constexpr (std::same_as<T, Renewed>) {
          return "renewed " + std::to_string(r.ttl.count());
        } else if constexpr (std::same_as<T, Gone>) {
          return r.reason == GoneReason::taken ? "taken" : "broken";
        } else if constexpr (std::same_as<T, Released>) {
          return "released";
        } else if constexpr (std::same_as<T, NotOwner>) {
          return "not owner";
        } else if constexpr (std::same_as<T, AlreadyDone>) {
          return "already done";
        } else {
          return "failed: " + r.detail;
        }
      },
      reply);
}

std::string text_of(const BreakDone& done) {
  return done.holders.empty() ? "hit nobody" : "hit " + text(done.holders.front());
}

std::string text_of(const NameView& view) {
  std::string all = view.name + ": " +
                    (view.holders.empty() ? "free" : text(std::optional{view.holders.front()}));
  for (const Waiter& waiter : view.waiters) {
    all += ", " + waiter.owner.text().substr(0, 2) + " since " +
           std::to_string(waiter.waiting_for.count());
  }
  return all;
}

class Conversation {
 public:
  explicit Conversation(std::uint64_t seed) : random_(seed) {
    sqlite::Settings settings;
    settings.path = dir_ / "locks.db";
    settings.clock = sqlite::HostClock{"a-boot", "a-namespace", [] { return unix_us_now; }};
    store_ = sqlite::make_factory(std::move(settings))->open(runtime_);
    unix_us_now = 1'000'000;
  }

  void step() {
    runtime_.time += Duration{std::chrono::milliseconds{below(4) == 0 ? below(3000) : below(200)}};
    unix_us_now += below(10) == 0 ? -500'000 : 1'000;
    Claim what = some_claim();
    switch (below(8)) {
      case 0:
      case 1:
        return compare_acquire(what, Store::Queueing::no);
      case 2:
      case 3:
        return compare_acquire(what, Store::Queueing::yes);
      case 4:
      case 5:
        return compare_renew(what);
      case 6:
        return compare_withdraw(what, {.keep_min_hold = below(2) == 0, .tombstone = below(3) == 0});
      default:
        return compare_break(what.name, below(2) == 0 ? BreakMode::now : BreakMode::ask_holder);
    }
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  Claim some_claim() {
    Claim what = claim(below(3) == 0 ? "b" : "a", static_cast<std::uint8_t>(1 + below(5)),
                       std::chrono::milliseconds{500 + 500 * below(4)});
    what.liveness = std::chrono::milliseconds{400};
    const int kind = what.owner.bytes[0];  // an owner's options are always the same
    what.min_hold = kind == 2 ? 1500ms : 0ms;
    what.max_hold = kind == 3 ? 2s : 0s;
    what.lock_delay = kind == 4 ? 300ms : 0ms;
    return what;
  }

  template <class Reply, class Question>
  Reply ask(Question question) {
    std::optional<Reply> reply;
    question(UniqueFunction<void(Reply)>([&](Reply answer) { reply = std::move(answer); }));
    runtime_.run();
    return std::move(reply).value();
  }

  void compare_acquire(const Claim& what, Store::Queueing queueing) {
    const auto wanted = model_.acquire(what, queueing, reading(), notices_);
    auto seen =
        ask<AcquireReply>([&](auto done) { store_->acquire(what, queueing, std::move(done)); });
    const auto* busy = std::get_if<Busy>(&wanted);
    if (busy != nullptr && !busy->holder && std::holds_alternative<Busy>(seen)) {
      seen = *busy;  // an entombed owner may be told who holds the name, or not
    }
    compare("acquire " + what.name + " as " + what.owner.text().substr(0, 2), text_of(wanted),
            text_of(seen), what.name);
  }
  void compare_renew(const Claim& what) {
    const auto wanted = model_.renew(what, reading(), notices_);
    const auto seen = ask<std::vector<RenewReply>>(
        [&](auto done) { store_->renew(std::span(&what, 1), std::move(done)); });
    compare("renew", text_of(wanted), text_of(seen.at(0)), what.name);
  }
  void compare_withdraw(const Claim& what, WithdrawOptions options) {
    Instant& entombed_until = entombed_until_[what.owner];
    if (options.tombstone && entombed_until > runtime_.time) {
      options.tombstone = false;  // a second one prolongs ours; the model keeps the first
    } else if (options.tombstone) {
      entombed_until = runtime_.time + what.ttl;
    }
    const auto wanted = model_.withdraw(what, options, reading(), notices_);
    const auto seen =
        ask<WithdrawReply>([&](auto done) { store_->withdraw(what, options, std::move(done)); });
    compare("withdraw", text_of(wanted), text_of(seen), what.name);
  }
  void compare_break(const std::string& name, BreakMode mode) {
    const auto wanted = model_.break_name(name, mode, reading(), notices_);
    const auto seen =
        ask<BreakReply>([&](auto done) { store_->break_name(name, mode, std::move(done)); });
    compare("break", text_of(wanted), text_of(std::get<BreakDone>(seen)), name);
  }
  void compare(const std::string& what, const std::string& wanted, const std::string& seen,
               const std::string& name) {
    ASSERT_EQ(wanted, seen) << what;
    const auto view = ask<InspectReply>([&](auto done) { store_->inspect(name, std::move(done)); });
    const NameView model_view = model_.inspect(name, reading());
    const NameView store_view = std::get<NameView>(view);
    ASSERT_EQ(text_of(model_view), text_of(store_view)) << what;
    if (!model_view.holders.empty()) {
      compare_fences(name, to_int(model_view.holders[0].fence),
                     to_int(store_view.holders[0].fence));
    }
  }
  // The numbers may differ, the order may not: one fence of ours for one of the model, and rising.
  void compare_fences(const std::string& name, std::int64_t wanted, std::int64_t seen) {
    auto& pairs = fences_[name];
    if (const auto known = pairs.find(wanted); known != pairs.end()) {
      ASSERT_EQ(known->second, seen);
      return;
    }
    if (!pairs.empty()) {
      ASSERT_GT(wanted, pairs.rbegin()->first);
      ASSERT_GT(seen, pairs.rbegin()->second);
    }
    pairs.emplace(wanted, seen);
  }

  LockTable::Reading reading() const { return {runtime_.time, unix_us_now}; }

  TempDir dir_{"/dev/shm"};  // in memory: thousands of flushes would be slow
  std::mt19937_64 random_;
  StillRuntime runtime_{};
  std::unique_ptr<Store> store_{};
  LockTable model_{};
  LockTable::Notices notices_{};
  std::map<OwnerId, Instant> entombed_until_{};
  std::map<std::string, std::map<std::int64_t, std::int64_t>> fences_{};
};

TEST(SqliteModel, AnswersAsTheModelDoes) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Conversation conversation(seed);
    for (int i = 0; i < 300 && !testing::Test::HasFatalFailure(); ++i) {
      conversation.step();
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace holdfast::sqlite_tests
