// The guards' common tests on a service that owns its data in memory.
#include "tests/conformance/guarded_ledger.hpp"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace holdfast::guard_tests {
namespace {

struct Books {
  std::mutex mutex{};
  MemoryGuard guard{};
  std::map<std::string, std::vector<std::int64_t>> ledgers{};
};

class MemoryLedger : public GuardedLedger {
 public:
  explicit MemoryLedger(std::shared_ptr<Books> books) : books_(std::move(books)) {}

  std::error_code admit(const Stamp& stamp, const std::string& resource) override {
    return append(stamp, resource, 0);
  }
  std::error_code append(const Stamp& stamp, const std::string& resource, int rows) override {
    const std::scoped_lock lock(books_->mutex);
    std::error_code ec = errc::busy;
    books_->guard.admit(resource, stamp.name, stamp.fence, stamp.floor, ec);
    for (int row = 0; row < rows && !ec; ++row) insert(stamp.fence, resource);
    return ec;
  }
  void append_unchecked(Fence fence, const std::string& resource) override {
    const std::scoped_lock lock(books_->mutex);
    insert(fence, resource);
  }
  std::vector<std::int64_t> rows(const std::string& resource) override {
    const std::scoped_lock lock(books_->mutex);
    return books_->ledgers[resource];
  }

 private:
  void insert(Fence fence, const std::string& resource) {
    books_->ledgers[resource].push_back(to_int(fence));
  }
  std::shared_ptr<Books> books_;
};

class MemoryStorage : public Storage {
 public:
  std::unique_ptr<GuardedLedger> open() override { return std::make_unique<MemoryLedger>(books_); }

 private:
  std::shared_ptr<Books> books_ = std::make_shared<Books>();
};

StorageKind memory_storage() {
  return {.name = "memory", .make = [] { return std::make_unique<MemoryStorage>(); }};
}

INSTANTIATE_TEST_SUITE_P(memory, C39, testing::Values(memory_storage()), storage_name);

// Where a process cannot be stopped without its data, a thread is: between check and write.
TEST(C39Memory, AThreadThatStoppedBetweenCheckAndWriteIsRefused) {
  for (const bool guarded : {true, false}) {
    MemoryStorage storage;
    std::mutex mutex;
    std::condition_variable turn;
    bool checked = false;
    bool go_on = false;
    const Stamp stale{.name = "payout", .fence = Fence{1}};
    std::thread writer{[&] {
      const auto ledger = storage.open();
      EXPECT_FALSE(ledger->admit(stale, "ledger"));
      {
        std::unique_lock lock(mutex);
        checked = true;
        turn.notify_all();
        turn.wait(lock, [&] { return go_on; });
      }
      if (guarded) {
        EXPECT_EQ(ledger->append(stale, "ledger", 1), errc::stale_fence);
      } else {
        ledger->append_unchecked(stale.fence, "ledger");
      }
    }};
    const auto ledger = storage.open();
    {
      std::unique_lock lock(mutex);
      turn.wait(lock, [&] { return checked; });
      EXPECT_FALSE(ledger->append({.name = "payout", .fence = Fence{2}}, "ledger", 1));
      go_on = true;
    }
    turn.notify_all();
    writer.join();
    EXPECT_EQ(ledger->rows("ledger").size(), guarded ? 1U : 2U) << "without, it gets through";
  }
}

}  // namespace
}  // namespace holdfast::guard_tests
