// What a client refuses before anything is sent.
#include "engine/ask.hpp"

#include "engine/client_core.hpp"
#include "runtime/host.hpp"
#include "tests/support/scripted_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace holdfast::detail {
namespace {

using namespace std::chrono_literals;

constexpr Capabilities everything{.queue = true,
                                  .wake_ups = true,
                                  .ttl = true,
                                  .shared = true,
                                  .permits = true,
                                  .at_once = true,
                                  .runs = true,
                                  .values = true};

Ask ask_with(void (*change)(Ask&)) {
  Ask ask{.name = "job"};
  change(ask);
  return ask;
}

errc code_of(const Ask& ask, const Capabilities& store = everything) {
  const auto refusal = why_refused(ask, store);
  if (refusal) {
    EXPECT_FALSE(refusal->detail.empty());
    EXPECT_EQ(refusal->detail.find('\n'), std::string::npos) << "one line";
  }
  return refusal ? refusal->code : errc{};
}

TEST(Ask, WhatIsRight) {
  EXPECT_EQ(code_of({.name = "job"}), errc{});
  EXPECT_EQ(code_of({.name = "job"}, Capabilities{}), errc{}) << "every store has exclusive locks";
  for (const std::uint32_t permits : {1U, 7U, limit_max}) {
    Ask ask{.name = "job", .mode = Mode::shared, .permits = permits, .limit = limit_max};
    EXPECT_EQ(code_of(ask), errc{});
  }
  EXPECT_EQ(code_of(ask_with([](Ask& a) { a.value.assign(value_size_max, 'x'); })), errc{});
  EXPECT_EQ(code_of(ask_with([](Ask& a) { a.run_id = "2026-11-30 {night}"; })), errc{});
}

TEST(Ask, WhatIsWrong) {
  const auto wrong = [](void (*change)(Ask&)) { return code_of(ask_with(change)); };
  EXPECT_EQ(wrong([](Ask& a) { a.name = "{"; }), errc::invalid_name);
  EXPECT_EQ(wrong([](Ask& a) { a.options.ttl = 0s; }), errc::invalid_options);
  EXPECT_EQ(wrong([](Ask& a) { a.limit = limit_max + 1; }), errc::invalid_options);
  EXPECT_EQ(wrong([](Ask& a) { a.limit = 3, a.permits = 4; }), errc::invalid_options);
  EXPECT_EQ(wrong([](Ask& a) { a.limit = 3, a.permits = 0; }), errc::invalid_options);
  EXPECT_EQ(wrong([](Ask& a) { a.value.assign(value_size_max + 1, 'x'); }), errc::invalid_options);
  EXPECT_EQ(wrong([](Ask& a) { a.run_id.assign(name_size_max + 1, 'x'); }), errc::invalid_options);
  EXPECT_EQ(wrong([](Ask& a) { a.run_id = "a\nb"; }), errc::invalid_options);
  EXPECT_EQ(wrong([](Ask& a) { a.run_id = "\xff"; }), errc::invalid_options);
}

TEST(Ask, WhatTheStoreCannotDo) {
  const auto without = [](bool Capabilities::*what, void (*change)(Ask&)) {
    Capabilities store = everything;
    store.*what = false;
    return code_of(ask_with(change), store);
  };
  const auto reader = [](Ask& a) { a.mode = Mode::shared; };
  const auto permit = [](Ask& a) { a.mode = Mode::shared, a.limit = 3; };
  EXPECT_EQ(without(&Capabilities::shared, reader), errc::unsupported);
  EXPECT_EQ(without(&Capabilities::permits, permit), errc::unsupported);
  EXPECT_EQ(without(&Capabilities::shared, permit), errc{}) << "a permit is not a reader";
  EXPECT_EQ(without(&Capabilities::permits, reader), errc{});
  EXPECT_EQ(without(&Capabilities::runs, [](Ask& a) { a.run_id = "1"; }), errc::unsupported);
  EXPECT_EQ(without(&Capabilities::values, [](Ask& a) { a.value = "v"; }), errc::unsupported);
}

// Knows exclusive locks only, and counts what reaches it.
class PlainStores final : public StoreFactory {
 public:
  std::unique_ptr<Store> open(Runtime&) override {
    auto store = std::make_unique<test::ScriptedStore>();
    store->on_asked = [this](const test::ScriptedStore::Asked&) { ++asked; };
    return store;
  }
  std::string url() const override { return "plain:"; }
  std::atomic<int> asked{0};
};

TEST(Ask, NothingIsSentForWhatIsRefused) {
  const auto stores = std::make_shared<PlainStores>();
  const auto core = std::make_shared<ClientCore>(stores, make_host(), ClientOptions{});
  const Ask ask{.name = "job", .mode = Mode::shared};
  const auto blocking = core->acquire(ask, {});
  EXPECT_EQ(blocking.code, errc::unsupported);
  EXPECT_FALSE(blocking.lease);
  EXPECT_FALSE(blocking.detail.empty());
  std::promise<std::error_code> told;
  core->start_acquire(ask, {}, [&](std::error_code code, const Lease& lease) {
    EXPECT_FALSE(lease);
    told.set_value(code);
  });
  EXPECT_EQ(told.get_future().get(), errc::unsupported);
  EXPECT_EQ(stores->asked, 0);
  EXPECT_EQ(core->counters().waiting, 0U);
  core->close();
}

}  // namespace
}  // namespace holdfast::detail
