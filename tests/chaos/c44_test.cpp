// C44: awkward names. Each is refused before any write, the same on all stores, or works in every
// verb; distinct names never exclude each other, equal bytes always do.
#include <holdfast/holdfast.hpp>

#include "tests/chaos/lock_form.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/chaos/test_store.hpp"

#include <algorithm>
#include <future>
#include <random>
#include <set>
#include <thread>

namespace holdfast::chaos {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

const std::vector<std::string> good_names{"a",
                                          "b",
                                          "a/b",
                                          "a/b/c",
                                          "/a",
                                          "a/",
                                          "//",
                                          "///",
                                          ".",
                                          "..",
                                          "../a",
                                          "a b",
                                          " a",
                                          "a ",
                                          "\u00e4",
                                          "a\u0308",
                                          "\U0001F512",
                                          "%2F",
                                          "%",
                                          "{x}y",
                                          "a{b}c{d}",
                                          "{a}",
                                          "*",
                                          "?",
                                          "[a]",
                                          "\\",
                                          "'; DROP",
                                          "'; DROP TABLE lease; --",
                                          "\"",
                                          "__",
                                          "a__b",
                                          "a:lock",
                                          "a:fence",
                                          "a:",
                                          ":",
                                          "lock:a",
                                          "lock:lock:a",
                                          "A",
                                          "aa",
                                          "ab",
                                          "ac",
                                          "$1",
                                          "-",
                                          "--",
                                          "NULL",
                                          "0",
                                          "a\u00a0",
                                          std::string(255, 'x'),
                                          std::string(254, 'x') + "y",
                                          std::string(254, 'x')};

const std::vector<std::string> bad_names{""s,
                                         "\n"s,
                                         "\0"s,
                                         "a\0b"s,
                                         "a\tb"s,
                                         "\x7f"s,
                                         "{"s,
                                         "}"s,
                                         "{}"s,
                                         "}{"s,
                                         "{a"s,
                                         "a}"s,
                                         "{{a}}"s,
                                         "\xff"s,
                                         "a\xc3"s,
                                         "\xed\xa0\x80"s,
                                         std::string(256, 'x'),
                                         std::string(64 << 10, 'x'),
                                         std::string(1 << 20, 'x')};

// Names that the store shows as held, over all pages.
std::set<std::string> listed(Client& client, const std::string& prefix = {}) {
  std::set<std::string> names;
  std::string cursor;
  do {
    const Page page = client.list(prefix, cursor);
    for (const NameView& view : page.names) {
      names.insert(view.name);
    }
    cursor = page.next_cursor;
  } while (!cursor.empty());
  return names;
}

class C44 : public OnEveryStore {};
class C44Forms : public OnEveryForm {};

TEST_P(C44, BadNamesAreRefusedWithNothingWritten) {
  const auto client = store().connect();
  for (const std::string& name : bad_names) {
    EXPECT_THROW(SharedMutex(*client, name), Error);
    EXPECT_THROW(Semaphore(*client, name, 2), Error);
    EXPECT_THROW(RecursiveMutex(*client, name), Error);
    EXPECT_THROW(OnceRun(*client, Once{.job = name, .run_id = "r"}), Error);
    try {
      const Mutex mutex{*client, name};
      ADD_FAILURE() << "accepted: " << ::testing::PrintToString(name.substr(0, 20));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), errc::invalid_name);
      EXPECT_LT(error.detail().size(), 200U) << "the message repeats the name";
      EXPECT_EQ(error.detail().find('\n'), std::string::npos);
    }
    EXPECT_THROW(static_cast<void>(client->inspect(name)), Error);
    EXPECT_THROW(static_cast<void>(client->break_name(name)), Error);
  }
  EXPECT_TRUE(listed(*client).empty());
}

TEST_P(C44Forms, GoodNamesWorkInEveryVerb) {
  const auto client = store().connect();
  const auto other = store().connect();
  const LeaseOptions options{.ttl = 900ms};
  std::vector<Lease> leases;
  for (const std::string& name : good_names) {
    std::error_code ec;
    leases.push_back(
        make_lock(*client, name, form(), Part::in_the_way, options)->acquire({.timeout = 0s}, ec));
    ASSERT_FALSE(ec) << "'" << name << "' is excluded by another name: " << ec.message();
    ASSERT_EQ(leases.back().name(), name);
  }
  for (const std::string& name : good_names) {
    std::error_code ec;
    const auto lock = make_lock(*other, name, form(), Part::tried, options);
    EXPECT_FALSE(lock->try_acquire(ec).has_value()) << name;
    EXPECT_FALSE(ec) << name;
    EXPECT_EQ(other->inspect(name).holders.size(), 1U) << name;
    EXPECT_EQ(other->inspect(name).name, name);
  }
  const std::set<std::string> all{good_names.begin(), good_names.end()};
  EXPECT_EQ(listed(*client), all);
  EXPECT_EQ(listed(*client, "a/").size(), 3U);  // a/, a/b, a/b/c

  // All are renewed: none is lost in two TTLs. A waiter of each gets in after the release.
  std::this_thread::sleep_for(2s);
  std::vector<std::promise<std::error_code>> won(good_names.size());
  for (std::size_t i = 0; i < good_names.size(); ++i) {
    EXPECT_TRUE(leases[i].valid()) << good_names[i];
    make_lock(*other, good_names[i], form(), Part::tried, options)
        ->start_acquire({.timeout = 20s}, [&won, i](std::error_code ec, Lease lease) {
          lease.release();
          won[i].set_value(ec);
        });
  }
  for (std::size_t i = 0; i < good_names.size(); ++i) {
    while (other->inspect(good_names[i]).waiters.empty()) {
      std::this_thread::sleep_for(1ms);
    }
    leases[i].release();
    EXPECT_FALSE(won[i].get_future().get()) << good_names[i];
  }
  EXPECT_TRUE(listed(*client).empty());
}

TEST_P(C44, RandomNamesNeverExcludeEachOther) {
  const bool durable = GetParam() == "sqlite";  // every grant is a write to the disk
  const std::size_t count =
      short_or_full<std::size_t>(durable ? 500 : 3000, durable ? 10'000 : 200'000);
  const auto client = store().connect();
  std::mt19937_64 random{44};
  std::set<std::string> names;
  while (names.size() < count) {
    std::string name;
    for (auto size = 1 + random() % 12; name.size() < size;) {
      constexpr std::string_view letters = "ab:/_.-%* {\u00e4\"'";
      const char letter = letters[random() % letters.size()];
      name += letter;
    }
    if (valid_name(name)) {
      names.insert(name);
    }
  }
  std::vector<Lease> leases;
  for (const std::string& name : names) {
    std::error_code ec;
    leases.push_back(Mutex{*client, name, {.ttl = 300s}}.acquire({.timeout = 0s}, ec));
    ASSERT_FALSE(ec) << "'" << name << "': " << ec.message();
  }
  EXPECT_EQ(listed(*client), names);
  std::ranges::shuffle(leases, random);
  for (Lease& lease : leases) {
    lease.release();
  }
  EXPECT_TRUE(listed(*client).empty());
  figure("C44 ", GetParam(), ": ", names.size(), " names held by one thread");
}

CASE_ON_EVERY_STORE(C44);
CASE_ON_EVERY_FORM(C44Forms);

}  // namespace
}  // namespace holdfast::chaos
