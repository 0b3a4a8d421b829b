// The stores that a case runs on, behind one face: where they are, ways to them that a test can
// spoil, and edits behind the back of the product.
//
//   class C02 : public chaos::OnEveryStore {};
//   TEST_P(C02, Deadline) { auto client = store().connect(); … }
//   CASE_ON_EVERY_STORE(C02);
#pragma once

#include <holdfast/client.hpp>

#include "tests/chaos/faulty_store.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::chaos {

// One client's network. Spoiling it spoils nobody else's.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  virtual std::unique_ptr<Client> connect(ClientOptions options = {}) = 0;
  virtual void fault(Fault fault) = 0;
  virtual void reset() = 0;  // breaks the connections that are open now
  virtual void delay(std::chrono::milliseconds answers) = 0;
};

class TestStore {
 public:
  TestStore() = default;
  TestStore(const TestStore&) = delete;
  TestStore& operator=(const TestStore&) = delete;
  virtual ~TestStore() = default;

  virtual std::string url() const = 0;
  virtual bool between_processes() const { return true; }
  virtual std::unique_ptr<Client> connect(ClientOptions options = {}) = 0;
  virtual std::unique_ptr<Link> link() = 0;

  // What the store keeps of names that nobody holds: places, tombstones, records; not last fences.
  // Nothing: there is no looking into it.
  virtual std::optional<std::int64_t> left_behind() { return std::nullopt; }

  // Deletes the lock of `name` as somebody with a database shell would: the fence state stays.
  virtual void erase(const std::string& name) = 0;
};

// A spoilable way to a store that has no network of its own.
std::unique_ptr<Link> make_faulty_link(const std::string& url);

// "memory" and what else this build has. A server that is slow to work with runs only the suites
// that its issue is about, unless the full forms were asked for.
std::vector<std::string> store_kinds(std::string_view suite);
// Empty, with the reason in `why`, if this machine lacks what it needs.
std::unique_ptr<TestStore> start_store(const std::string& kind, std::string& why);

class OnEveryStore : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  TestStore& store() { return *store_; }

 private:
  std::unique_ptr<TestStore> store_{};
};

std::vector<std::string> shared_store_kinds(std::string_view suite);  // between processes
// Whose network can fail, and memory.
std::vector<std::string> networked_store_kinds(std::string_view suite);

inline std::string kind_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

}  // namespace holdfast::chaos

#define CASE_ON_EVERY_STORE(suite)                                                               \
  INSTANTIATE_TEST_SUITE_P(, suite, ::testing::ValuesIn(::holdfast::chaos::store_kinds(#suite)), \
                           ::holdfast::chaos::kind_name)
#define CASE_ON_NETWORKED_STORES(suite)                                                           \
  INSTANTIATE_TEST_SUITE_P(, suite,                                                               \
                           ::testing::ValuesIn(::holdfast::chaos::networked_store_kinds(#suite)), \
                           ::holdfast::chaos::kind_name)
#define CASE_ON_SHARED_STORES(suite)                                                           \
  INSTANTIATE_TEST_SUITE_P(, suite,                                                            \
                           ::testing::ValuesIn(::holdfast::chaos::shared_store_kinds(#suite)), \
                           ::holdfast::chaos::kind_name)
