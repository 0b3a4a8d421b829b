// A storage with a guard, as the tests of all guards see it: a ledger per resource, to which the
// fence of the writer is appended in the step that checks it.
//
//   INSTANTIATE_TEST_SUITE_P(sqlite, C39, testing::Values(sqlite_storage()), storage_name);
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/guard.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace holdfast::guard_tests {

// One writer's connection. Used by one thread of one process.
class GuardedLedger {
 public:
  virtual ~GuardedLedger() = default;

  // Only raises the mark.
  virtual std::error_code admit(const Stamp& stamp, const std::string& resource) = 0;
  // Appends the fence `rows` times if it is admitted.
  virtual std::error_code append(const Stamp& stamp, const std::string& resource, int rows) = 0;
  // Appends it once without asking anybody: the second half of "check, then write".
  virtual void append_unchecked(Fence fence, const std::string& resource) = 0;
  // All that was ever appended, in this order.
  virtual std::vector<std::int64_t> rows(const std::string& resource) = 0;
};

// The place where the ledgers are; cleared away with it.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual std::unique_ptr<GuardedLedger> open() = 0;  // also in a child process
  // Ends without notice and comes back, while no ledger is open. Only for C39Stops.
  virtual void restart() { ADD_FAILURE() << "this storage cannot be restarted"; }
};

struct StorageKind {
  std::string name{};
  std::function<std::unique_ptr<Storage>()> make{};
  std::string why_not{};  // not empty: it cannot run here

  friend void PrintTo(const StorageKind& kind, std::ostream* out) { *out << kind.name; }
};

inline std::string storage_name(const testing::TestParamInfo<StorageKind>& info) {
  return info.param.name;
}

class GuardTest : public testing::TestWithParam<StorageKind> {
 protected:
  void SetUp() override;

  std::error_code append(std::int64_t fence, const std::string& resource = "ledger", int rows = 1) {
    return ledger->append(stamp(fence), resource, rows);
  }
  static Stamp stamp(std::int64_t fence, std::int64_t floor = 0,
                     const std::string& name = "payout") {
    return {.name = name, .fence = Fence{fence}, .floor = Fence{floor}};
  }

  std::unique_ptr<Storage> storage{};
  std::unique_ptr<GuardedLedger> ledger{};
};

class C39 : public GuardTest {};       // every storage
class C39Stops : public GuardTest {};  // storages that processes share

}  // namespace holdfast::guard_tests
