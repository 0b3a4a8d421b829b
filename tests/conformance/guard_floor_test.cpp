// Guards and leases together: by their floors, readers and permit holders that are alive pass one
// another, and those that are not alive any more are stopped.
#include "tests/conformance/client_test.hpp"

#ifdef HOLDFAST_WITH_SQLITE
#include <holdfast/guard/sqlite.hpp>

#include "tests/conformance/sqlite_fixture.hpp"
#include "tests/conformance/sqlite_user.hpp"
#endif

namespace holdfast::conformance {
namespace {

// What admits a lease to the resource "table" that "doc" guards.
using Admit = std::function<std::error_code(Fence, Fence)>;

struct GuardKind {
  std::string name{};
  std::function<Admit()> make{};
};

Admit make_memory_guard() {
  return [guard = std::make_shared<MemoryGuard>()](Fence fence, Fence floor) {
    std::error_code ec = errc::busy;
    guard->admit("table", "doc", fence, floor, ec);
    return ec;
  };
}

#ifdef HOLDFAST_WITH_SQLITE
Admit make_sqlite_guard() {
  using namespace sqlite_tests;
  struct Database {
    TempDir dir{"/dev/shm"};
    Db db{dir / "app.db"};
  };
  auto database = std::make_shared<Database>();
  SqliteGuard{database->db}.install();
  return [database](Fence fence, Fence floor) {
    std::error_code ec = errc::busy;
    database->db.must("BEGIN IMMEDIATE");
    SqliteGuard{database->db}.admit("table", "doc", fence, floor, ec);
    database->db.must(ec ? "ROLLBACK" : "COMMIT");
    return ec;
  };
}
#endif

std::vector<GuardKind> guards() {
  std::vector<GuardKind> all{{"memory", make_memory_guard}};
#ifdef HOLDFAST_WITH_SQLITE
  all.push_back({"sqlite", make_sqlite_guard});
#endif
  return all;
}

class GuardFloor : public ClientTest {
 protected:
  void SetUp() override {
    ClientTest::SetUp();
    if (!IsSkipped() && !(client().capabilities().shared && client().capabilities().permits)) {
      GTEST_SKIP() << "this store has neither readers nor semaphores";
    }
  }
  static std::error_code admit(const Admit& guard, const Lease& lease) {
    return guard(lease.fence(), lease.floor());
  }
};
HOLDFAST_ON_EVERY_CLIENT(GuardFloor);

TEST_P(GuardFloor, LivingReadersPassOneAnotherAndAWriterStopsThem) {
  SharedMutex ours{client(), "doc"};
  SharedMutex theirs{other(), "doc"};
  for (const GuardKind& kind : guards()) {
    SCOPED_TRACE(kind.name);
    const Admit guard = kind.make();
    Lease first = ours.acquire_shared();
    Lease second = theirs.acquire_shared();
    for (int round = 0; round < 2; ++round) {
      EXPECT_FALSE(admit(guard, second));
      EXPECT_FALSE(admit(guard, first)) << "older, and alive";
    }
    const Fence old_fence = second.fence();
    const Fence old_floor = second.floor();
    first.release();
    second.release();
    Lease writer = ours.acquire({.timeout = 5s});
    EXPECT_FALSE(admit(guard, writer));
    EXPECT_EQ(guard(old_fence, old_floor), errc::stale_fence) << "a reader of before";
    // A downgraded writer and the readers beside it.
    ours.downgrade(writer);
    Lease beside = theirs.acquire_shared();
    EXPECT_FALSE(admit(guard, beside));
    EXPECT_FALSE(admit(guard, writer));
    EXPECT_EQ(guard(old_fence, old_floor), errc::stale_fence);
  }
}

TEST_P(GuardFloor, AReaderThatIsGoneIsStoppedByThoseWhoCameAfterIt) {
  SharedMutex ours{client(), "doc", {.ttl = 300ms, .renew = false}};
  SharedMutex theirs{other(), "doc"};
  for (const GuardKind& kind : guards()) {
    SCOPED_TRACE(kind.name);
    const Admit guard = kind.make();
    Lease gone = ours.acquire_shared();
    Lease stays = theirs.acquire_shared();
    EXPECT_FALSE(admit(guard, gone));
    Loss loss{gone};
    ASSERT_TRUE(loss.await());
    ASSERT_TRUE(test::eventually([&] { return other().inspect("doc").holders.size() == 1; }));
    const Lease later = theirs.acquire_shared();
    EXPECT_EQ(later.floor(), stays.fence());
    EXPECT_FALSE(admit(guard, later));
    EXPECT_FALSE(admit(guard, stays)) << "alive";
    EXPECT_EQ(admit(guard, gone), errc::stale_fence) << "not alive when the last was granted";
  }
}

TEST_P(GuardFloor, PermitHoldersPassOneAnother) {
  Semaphore ours{client(), "doc", 3};
  Semaphore theirs{other(), "doc", 3};
  for (const GuardKind& kind : guards()) {
    SCOPED_TRACE(kind.name);
    const Admit guard = kind.make();
    Lease first = ours.acquire();
    Lease second = theirs.acquire({.timeout = 5s}, 2);
    EXPECT_FALSE(admit(guard, second));
    EXPECT_FALSE(admit(guard, first));
    const Fence old_fence = first.fence();
    const Fence old_floor = first.floor();
    first.release();
    const Lease third = ours.acquire();
    EXPECT_FALSE(admit(guard, third));
    EXPECT_FALSE(admit(guard, second)) << "alive";
    EXPECT_EQ(guard(old_fence, old_floor), errc::stale_fence) << "given back";
  }
}

}  // namespace
}  // namespace holdfast::conformance
