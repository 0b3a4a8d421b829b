// Random conversations: the SQLite store and LockTable, the model of all stores, must answer alike.
#include "store/memory/lock_table.hpp"
#include "tests/conformance/sqlite_fixture.hpp"
#include "tests/property/command.hpp"

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
         (holder->released ? " released" : "") +
         (holder->mode == Mode::shared ? " shared " : " exclusive ") +
         std::to_string(holder->permits) + "/" + std::to_string(holder->limit) + " says " +
         holder->value;
}

std::string text_of(const Granted& r) { return "granted ttl " + std::to_string(r.ttl.count()); }
std::string text_of(const Queued& r) {
  return "queued " + std::to_string(r.recheck_in.count()) + " behind " + text(r.holder);
}
std::string text_of(const Busy& r) {
  return "busy " + std::to_string(r.recheck_in.count()) + " " + text(r.holder);
}
std::string text_of(const AlreadyDone&) { return "already done"; }
std::string text_of(const Failed& r) { return "failed: " + r.detail; }
std::string text_of(const Renewed& r) { return "renewed " + std::to_string(r.ttl.count()); }
std::string text_of(const Gone& r) { return r.reason == GoneReason::taken ? "taken" : "broken"; }
std::string text_of(const Amended&) { return "amended"; }
std::string text_of(const Released&) { return "released"; }
std::string text_of(const NotOwner&) { return "not owner"; }
std::string text_of(const AllBusy& r) { return std::to_string(r.which) + " is " + text_of(r.busy); }
std::string text_of(const AllGranted& all) {
  std::string text = "all";
  for (const Granted& granted : all) text += " " + text_of(granted);
  return text;
}
template <class... Kinds>
std::string text_of(const std::variant<Kinds...>& reply) {
  return std::visit([](const auto& kind) { return text_of(kind); }, reply);
}

std::string text_of(const BreakDone& done) {
  std::string all = "hit";
  for (const Holder& holder : done.holders) all += " " + text(holder);
  return all;
}

std::string text_of(const NameView& view) {
  std::string all = view.name + ":";
  for (const Holder& holder : view.holders) all += " " + text(holder);
  for (const Waiter& waiter : view.waiters) {
    all += ", " + waiter.who.note + " since " + std::to_string(waiter.waiting_for.count()) +
           (waiter.mode == Mode::shared ? " shared " : " exclusive ") +
           std::to_string(waiter.permits) + "/" + std::to_string(waiter.limit);
  }
  return all;
}

class Conversation {
 public:
  explicit Conversation(std::uint64_t seed) : random_(seed) {
    sqlite::Settings settings;
    settings.path = dir_ / "locks.db";
    settings.clock = sqlite::HostClock{"a-boot", "a-namespace", [] { return unix_us_now; }};
    factory_ = sqlite::make_factory(std::move(settings));
    store_ = factory_->open(runtime_);
    unix_us_now = 1'000'000;
  }

  void step() {
    runtime_.time += Duration{std::chrono::milliseconds{below(4) == 0 ? below(3000) : below(200)}};
    unix_us_now += below(10) == 0 ? -500'000 : 1'000;
    const int name = below(2);
    const int number = property::owner_drawn(name, below(18));
    Claim what = claim_of(name, number);
    switch (below(12)) {
      case 0:
      case 1:
        return compare_acquire(what, Store::Queueing::no);
      case 2:
      case 3:
      case 4:
        return compare_acquire(what, Store::Queueing::yes);
      case 5:
        return compare_renew(what);
      case 6:
        return compare_amend(what);
      case 7:
        return compare_withdraw(what, {.keep_min_hold = below(2) == 0, .tombstone = below(3) == 0});
      case 8:
        return compare_withdraw(what, {.keep_min_hold = true,
                                       .tombstone = false,
                                       .remember = std::chrono::milliseconds{below(4000)}});
      case 9:
        return compare_both(number);
      case 10:
        if (below(10) == 0) store_ = factory_->open(runtime_);  // what counts is in the file
        return compare_renew(what);
      default:
        return compare_break(what.name, below(2) == 0 ? BreakMode::now : BreakMode::ask_holder);
    }
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  Claim claim_of(int name, int number) {
    Claim what =
        claim(std::string(1, static_cast<char>('a' + name)), static_cast<std::uint8_t>(number),
              std::chrono::milliseconds{500 + 500 * below(4)});
    what.owner = property::owner_id(name, number);
    what.liveness = std::chrono::milliseconds{400};
    property::put_use(what, number);
    const int kind = number % 6;  // an owner's options are always the same
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
    compare("acquire " + what.name + " as " + what.who.note, text_of(wanted), text_of(seen),
            what.name);
  }
  void compare_both(int number) {
    const std::vector<Claim> what{claim_of(0, number), claim_of(1, number)};
    const auto wanted = model_.acquire_all(what, reading(), notices_);
    const auto seen =
        ask<AcquireAllReply>([&](auto done) { store_->acquire_all(what, std::move(done)); });
    compare("acquire all", text_of(wanted), text_of(seen), "a");
    compare("acquire all", text_of(wanted), text_of(seen), "b");
  }
  void compare_renew(const Claim& what) {
    const auto wanted = model_.renew(what, reading(), notices_);
    const auto seen = ask<std::vector<RenewReply>>(
        [&](auto done) { store_->renew(std::span(&what, 1), std::move(done)); });
    compare("renew", text_of(wanted), text_of(seen.at(0)), what.name);
  }
  void compare_amend(Claim what) {
    what.value = std::to_string(below(1000));
    if (what.limit == 0 && below(2) == 0) {
      what.mode = what.mode == Mode::shared ? Mode::exclusive : Mode::shared;
    }
    const auto wanted = model_.amend(what, reading(), notices_);
    const auto seen = ask<AmendReply>([&](auto done) { store_->amend(what, std::move(done)); });
    compare("amend", text_of(wanted), text_of(seen), what.name);
  }
  void compare_withdraw(const Claim& what, WithdrawOptions options) {
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
    for (std::size_t i = 0; i < model_view.holders.size(); ++i) {
      compare_fences(name, to_int(model_view.holders[i].fence),
                     to_int(store_view.holders[i].fence));
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
  std::shared_ptr<StoreFactory> factory_{};
  std::unique_ptr<Store> store_{};
  LockTable model_{};
  LockTable::Notices notices_{};
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
