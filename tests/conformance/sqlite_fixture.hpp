// What the SQLite tests share: a lock file in a directory of its own, and stores that are asked
// one question at a time on a lane.
#pragma once

#include "runtime/event_loop.hpp"
#include "store/sqlite/settings.hpp"
#include "store/sqlite/sqlite_factory.hpp"
#include "tests/support/numbered_claim.hpp"

#include <holdfast/error.hpp>
#include <holdfast/store.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <concepts>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::sqlite_tests {

using namespace std::chrono_literals;

class TempDir {
 public:
  explicit TempDir(const std::string& parent = std::filesystem::temp_directory_path()) {
    std::string name = parent + "/holdfast-sqlite-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Somebody else's connection to the lock file.
class Intruder {
 public:
  explicit Intruder(const std::string& path) { sqlite3_open(path.c_str(), &db_); }
  Intruder(const Intruder&) = delete;
  Intruder& operator=(const Intruder&) = delete;
  ~Intruder() { sqlite3_close(db_); }
  int run(const std::string& sql) {
    return sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  }
  std::int64_t count(const std::string& sql) {
    std::int64_t value = -1;
    sqlite3_exec(
        db_, sql.c_str(),
        [](void* out, int, char** columns, char**) {
          *static_cast<std::int64_t*>(out) = std::stoll(columns[0]);
          return 0;
        },
        &value, nullptr);
    return value;
  }

 private:
  sqlite3* db_ = nullptr;
};

// The time of a test: the real clock, moved ahead at will, so that expiry needs no sleeping.
class ShiftedLoop final : public Runtime {
 public:
  explicit ShiftedLoop(EventLoop& loop) : loop_(loop) {}
  Instant now() const override { return loop_.now() + shift; }
  TimerId call_at(Instant when, UniqueFunction<void()> callback) override {
    return loop_.call_at(when - shift, std::move(callback));
  }
  void cancel(TimerId timer) noexcept override { loop_.cancel(timer); }
  void post(UniqueFunction<void()> callback) override { loop_.post(std::move(callback)); }
  void post_by(Instant latest, UniqueFunction<void()> callback) override {
    loop_.post_by(latest, std::move(callback));
  }
  void random_bytes(std::span<std::uint8_t> bytes) override { loop_.random_bytes(bytes); }

  Duration shift{};

 private:
  EventLoop& loop_;
};

using test::claim;
using test::owner;

// One store on one lane, asked and awaited.
class Asker {
 public:
  explicit Asker(const std::shared_ptr<StoreFactory>& factory, bool real_loop = false)
      : store_(factory->open(real_loop ? static_cast<Runtime&>(loop_) : shifted_)) {}

  AcquireReply acquire(const Claim& what, Store::Queueing queueing = Store::Queueing::no) {
    return ask<AcquireReply>([&](auto done) { store_->acquire(what, queueing, std::move(done)); });
  }
  AcquireReply queue(const Claim& what) { return acquire(what, Store::Queueing::yes); }
  std::vector<RenewReply> renew(const std::vector<Claim>& what) {
    return ask<std::vector<RenewReply>>([&](auto done) { store_->renew(what, std::move(done)); });
  }
  RenewReply renew(const Claim& what) { return renew(std::vector{what}).at(0); }
  WithdrawReply withdraw(const Claim& what, WithdrawOptions options = {}) {
    return ask<WithdrawReply>([&](auto done) { store_->withdraw(what, options, std::move(done)); });
  }
  BreakReply break_name(const std::string& name, BreakMode mode) {
    return ask<BreakReply>([&](auto done) { store_->break_name(name, mode, std::move(done)); });
  }
  NameView inspect(const std::string& name) {
    auto reply = ask<InspectReply>([&](auto done) { store_->inspect(name, std::move(done)); });
    if (const auto* failed = std::get_if<Failed>(&reply)) {
      throw Error(failed->code, failed->detail);
    }
    return std::get<NameView>(reply);
  }
  Page list(const std::string& prefix, const std::string& cursor = {}) {
    auto reply = ask<ListReply>([&](auto done) { store_->list(prefix, cursor, std::move(done)); });
    if (const auto* failed = std::get_if<Failed>(&reply)) {
      throw Error(failed->code, failed->detail);
    }
    return std::get<Page>(reply);
  }
  std::vector<Finding> diagnose() {
    return ask<std::vector<Finding>>([&](auto done) { store_->diagnose(std::move(done)); });
  }

  // Events are kept from here on.
  void listen() {
    store_->listen([this](const StoreEvent& event) { events.push_back(event); });
  }
  // Runs the lane until `done`; false if that takes longer than `limit`.
  bool run_until(UniqueFunction<bool()> done, Duration limit = 5s) {
    bool late = false;
    const auto timer = loop_.call_at(loop_.now() + limit, [&] { late = true; });
    loop_.run_until([&] { return late || done(); });
    loop_.cancel(timer);
    return !late;
  }

  template <class Reply, class Question>
  Reply ask(Question question) {
    std::optional<Reply> reply;
    question(UniqueFunction<void(Reply)>([&](Reply answer) { reply = std::move(answer); }));
    EXPECT_FALSE(reply) << "answered from inside the call";
    loop_.run_until([&] { return reply.has_value(); });
    return *std::move(reply);
  }

  Store& store() { return *store_; }
  EventLoop& loop() { return loop_; }
  void let_pass(Duration time) { shifted_.shift += time; }

  std::vector<StoreEvent> events{};

 private:
  EventLoop loop_{};
  ShiftedLoop shifted_{loop_};
  std::unique_ptr<Store> store_;
};

inline std::shared_ptr<StoreFactory> factory_of(const std::string& path,
                                                const std::string& query = {}) {
  return make_sqlite_factory(StoreUrl::parse("sqlite://" + path + query));
}

// What an answer says, if it is a failure.
template <class... Answers>
std::string failure_text(const std::variant<Answers...>& reply) {
  if constexpr ((std::same_as<Answers, Failed> || ...)) {
    if (const auto* failed = std::get_if<Failed>(&reply)) {
      return failed->code.message() + ": " + failed->detail;
    }
  }
  return "another answer: number " + std::to_string(reply.index());
}

// Throws, which fails the test, if the answer is another one.
template <class Wanted, class Reply>
const Wanted& expect(const Reply& reply) {
  if (const auto* wanted = std::get_if<Wanted>(&reply)) {
    return *wanted;
  }
  throw std::runtime_error(failure_text(reply));
}

template <class Reply>
void expect_failed(const Reply& reply, errc code, const std::string& part) {
  const auto* failed = std::get_if<Failed>(&reply);
  ASSERT_NE(failed, nullptr) << "answer number " << reply.index();
  EXPECT_EQ(failed->code, make_error_code(code)) << failed->detail;
  EXPECT_NE(failed->detail.find(part), std::string::npos) << failed->detail;
  EXPECT_EQ(failed->detail.find('\n'), std::string::npos) << failed->detail;
}

}  // namespace holdfast::sqlite_tests
