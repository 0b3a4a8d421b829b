// What the Redis tests share: a server, and stores that are asked one question at a time.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/store.hpp>

#include "base/store_url.hpp"
#include "runtime/event_loop.hpp"
#include "store/redis/redis_factory.hpp"
#include "tests/support/numbered_claim.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/required.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::redis_tests {

using namespace std::chrono_literals;
using test::RedisOptions;
using test::RedisServer;

inline std::string with_option(const std::string& url, const std::string& option) {
  return url + (url.find('?') == std::string::npos ? '?' : '&') + option;
}

inline std::shared_ptr<StoreFactory> factory_for(const std::string& url,
                                                 const std::string& password = {}) {
  return make_redis_factory(StoreUrl::parse(url), password);
}

using test::claim;
using test::owner;

// The helper key as README.md describes it.
inline std::string helper(const std::string& kind, const std::string& name) {
  return "lock:{lock:" + name + "}\x1f" + kind + "\x1flock:" + name;
}

// One store on one lane. Every call runs the lane until it is answered.
class Asker {
 public:
  explicit Asker(const std::shared_ptr<StoreFactory>& factory) : store_(factory->open(loop_)) {}
  explicit Asker(const std::string& url, const std::string& password = {})
      : Asker(factory_for(url, password)) {}

  AcquireReply acquire(const Claim& what, Store::Queueing queueing = Store::Queueing::no) {
    return ask<AcquireReply>([&](auto done) { store_->acquire(what, queueing, std::move(done)); });
  }
  AcquireReply queue(const Claim& what) { return acquire(what, Store::Queueing::yes); }
  // The fence of a grant; zero, and a failed test, for any other answer.
  std::int64_t grant(const Claim& what) {
    const AcquireReply reply = acquire(what);
    EXPECT_TRUE(std::holds_alternative<Granted>(reply)) << why(reply);
    const auto* granted = std::get_if<Granted>(&reply);
    return granted == nullptr ? 0 : to_int(granted->fence);
  }
  AcquireAllReply acquire_all(const std::vector<Claim>& what) {
    return ask<AcquireAllReply>([&](auto done) { store_->acquire_all(what, std::move(done)); });
  }
  AmendReply amend(const Claim& what) {
    return ask<AmendReply>([&](auto done) { store_->amend(what, std::move(done)); });
  }
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
  InspectReply inspect_reply(const std::string& name) {
    return ask<InspectReply>([&](auto done) { store_->inspect(name, std::move(done)); });
  }
  NameView inspect(const std::string& name) {
    InspectReply reply = inspect_reply(name);
    EXPECT_TRUE(std::holds_alternative<NameView>(reply)) << why(reply);
    return std::holds_alternative<NameView>(reply) ? std::get<NameView>(std::move(reply))
                                                   : NameView{};
  }
  std::vector<NameView> list(const std::string& prefix) {
    std::vector<NameView> all;
    std::string cursor;
    do {
      auto reply =
          ask<ListReply>([&](auto done) { store_->list(prefix, cursor, std::move(done)); });
      EXPECT_TRUE(std::holds_alternative<Page>(reply)) << why(reply);
      if (!std::holds_alternative<Page>(reply)) {
        break;
      }
      cursor = std::get<Page>(reply).next_cursor;
      for (NameView& view : std::get<Page>(reply).names) {
        all.push_back(std::move(view));
      }
    } while (!cursor.empty());
    return all;
  }
  std::vector<Finding> diagnose() {
    return ask<std::vector<Finding>>([&](auto done) { store_->diagnose(std::move(done)); });
  }

  // Events are kept from here on.
  void listen() {
    store_->listen([this](const StoreEvent& event) { events.push_back(event); });
  }
  template <class Kind>
  const Kind* last_event() const {
    return events.empty() ? nullptr : std::get_if<Kind>(&events.back());
  }

  // Runs the lane until `done`; false if that takes longer than `limit`.
  bool run_until(UniqueFunction<bool()> done, Duration limit = 5s) {
    bool late = false;
    const auto timer = loop_.call_at(loop_.now() + limit, [&] { late = true; });
    loop_.run_until([&] { return late || done(); });
    loop_.cancel(timer);
    return !late;
  }
  void run_for(Duration time) {
    run_until([] { return false; }, time);
  }

  template <class Reply, class Question>
  Reply ask(Question question) {
    std::optional<Reply> reply;
    question(UniqueFunction<void(Reply)>([&](Reply answer) { reply = std::move(answer); }));
    EXPECT_FALSE(reply) << "answered from inside the call";
    loop_.run_until([&] { return reply.has_value(); });
    return *std::move(reply);
  }

  template <class Reply>
  static std::string why(const Reply& reply) {
    const auto* failed = std::get_if<Failed>(&reply);
    return failed == nullptr ? "alternative " + std::to_string(reply.index())
                             : failed->code.message() + ": " + failed->detail;
  }

  Store& store() { return *store_; }
  EventLoop& loop() { return loop_; }
  void close() { store_.reset(); }

  std::vector<StoreEvent> events{};

 private:
  EventLoop loop_{};
  std::unique_ptr<Store> store_;
};

template <class Kind, class Reply>
Kind expect(const Reply& reply) {
  EXPECT_TRUE(std::holds_alternative<Kind>(reply)) << Asker::why(reply);
  return std::holds_alternative<Kind>(reply) ? std::get<Kind>(reply) : Kind{};
}

inline Claim reader(const std::string& name, std::uint8_t number, Duration ttl = 10s) {
  Claim made = claim(name, number, ttl);
  made.mode = Mode::shared;
  return made;
}
inline Claim permit(const std::string& name, std::uint8_t number, std::uint32_t limit,
                    std::uint32_t permits = 1) {
  Claim made = reader(name, number);
  made.limit = limit;
  made.permits = permits;
  return made;
}

// A server for the tests of a suite, and one store on it.
class OnRedis : public testing::Test {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
    server_ = std::make_unique<RedisServer>(options());
    factory_ = factory_for(server_->url());
    asker_ = std::make_unique<Asker>(factory_);
  }
  virtual RedisOptions options() const { return {}; }

  RedisServer& server() { return *server_; }
  Asker& store() { return *asker_; }
  std::int64_t pttl(const std::string& key) { return std::stoll(server().command({"PTTL", key})); }
  std::vector<std::string> keys() {
    std::istringstream lines{server().command({"KEYS", "*"})};
    std::vector<std::string> all;
    for (std::string key; std::getline(lines, key);) {
      all.push_back(key);
    }
    std::ranges::sort(all);
    return all;
  }
  const std::shared_ptr<StoreFactory>& factory() { return factory_; }

 private:
  std::unique_ptr<RedisServer> server_;
  std::shared_ptr<StoreFactory> factory_;
  std::unique_ptr<Asker> asker_;
};

}  // namespace holdfast::redis_tests
