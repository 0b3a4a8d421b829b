// The resource guard, spoken to directly and through a pooler.
#include "tests/conformance/postgres_user.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace holdfast::postgres_tests {
namespace {

// The parameter: whether PgBouncer stands between.
class PostgresGuardTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
    HOLDFAST_NEEDS("pgbouncer", !GetParam() || PgBouncer::installed(), PgBouncer::how_to_install);
    direct = PostgresServer::shared().new_database();
    url = direct;
    if (GetParam()) {
      static const PgBouncer pooler{PostgresServer::shared()};
      url = pooler.url(direct.substr(direct.rfind('/') + 1));
    }
    user = std::make_unique<PgUser>(url);
    user->must("CREATE TABLE ledger(id bigserial PRIMARY KEY, amount int, fence bigint)");
    PostgresGuard{user->session()}.install();
  }

  std::string direct{};
  std::string url{};
  std::unique_ptr<PgUser> user{};
};

class C39PostgresGuard : public PostgresGuardTest {};

std::string way_name(const testing::TestParamInfo<bool>& way) {
  return way.param ? "PgBouncer" : "direct";
}
INSTANTIATE_TEST_SUITE_P(Way, PostgresGuardTest, testing::Bool(), way_name);
INSTANTIATE_TEST_SUITE_P(Way, C39PostgresGuard, testing::Bool(), way_name);

TEST_P(PostgresGuardTest, RefusesWhatIsBelowTheMark) {
  EXPECT_FALSE(user->admitted("ledger", 10));
  EXPECT_FALSE(user->admitted("ledger", 10)) << "one holder may write often";
  EXPECT_FALSE(user->admitted("ledger", 11));
  EXPECT_EQ(user->admitted("ledger", 10), errc::stale_fence);
}

TEST_P(PostgresGuardTest, FloorLetsLiveFencesPassOneAnother) {
  EXPECT_FALSE(user->admitted("r", 12, 10));
  EXPECT_FALSE(user->admitted("r", 11, 10));
  EXPECT_EQ(user->admitted("r", 9, 9), errc::stale_fence);
  EXPECT_FALSE(user->admitted("r", 13));
  EXPECT_EQ(user->admitted("r", 12, 10), errc::stale_fence);
}

TEST_P(PostgresGuardTest, RollbackForgetsTheMark) {
  user->must("BEGIN");
  EXPECT_FALSE(user->admit("r", "payout", 20));
  user->must("ROLLBACK");
  EXPECT_FALSE(user->admitted("r", 10));
  user->must("BEGIN; SAVEPOINT s");
  EXPECT_FALSE(user->admit("r", "payout", 20));
  user->must("ROLLBACK TO s; COMMIT");
  EXPECT_FALSE(user->admitted("r", 11));
}

TEST_P(PostgresGuardTest, ComparesAllSixtyFourBits) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_FALSE(user->admitted("r", most - 1));
  EXPECT_EQ(user->admitted("r", most - 2), errc::stale_fence);
  EXPECT_FALSE(user->admitted("r", most));
  EXPECT_EQ(user->admitted("r", (std::int64_t{1} << 53) + 1), errc::stale_fence);
}

TEST_P(PostgresGuardTest, NeedsAnOpenTransactionAndItsSchema) {
  EXPECT_EQ(user->admit("r", "payout", 1), errc::invalid_options) << "no transaction";
  user->must("BEGIN");
  EXPECT_EQ(user->run("SELECT 1/0"), "22012");
  EXPECT_EQ(user->admit("r", "payout", 1), errc::invalid_options) << "a failed one";
  user->must("ROLLBACK; BEGIN READ ONLY");
  EXPECT_EQ(user->admit("r", "payout", 1), errc::access_denied);
  user->must("ROLLBACK; DROP SCHEMA holdfast CASCADE; BEGIN");
  EXPECT_EQ(user->admit("r", "payout", 1), errc::not_found);
  user->must("ROLLBACK");
}

TEST_P(PostgresGuardTest, SaysWhoIsInTheWay) {
  EXPECT_FALSE(user->admitted("ledger", 10));
  user->must("BEGIN");
  try {
    PostgresGuard{user->session()}.admit("ledger", "payout", Fence{9});
    FAIL() << "a stale fence was admitted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::stale_fence);
    EXPECT_EQ(error.detail(), "stale fence: resource \"ledger\" has seen fence 10, this one is 9");
  }
  user->must("ROLLBACK");
}

TEST_P(PostgresGuardTest, AnyTextIsAResource) {
  for (const std::string& odd :
       {std::string{}, std::string{"'; DROP TABLE ledger; --"}, std::string{"ä {\"\\} \n"}}) {
    EXPECT_FALSE(user->admitted(odd, 5)) << odd;
    EXPECT_EQ(user->admitted(odd, 4), errc::stale_fence) << odd;
    user->must("BEGIN");
    const std::array<std::string_view, 2> both = {odd, "other"};
    std::error_code ec;
    PostgresGuard{user->session()}.admit_all(both, "payout", Fence{4}, Fence::none, ec);
    EXPECT_EQ(ec, errc::stale_fence) << odd << ": one resource for both calls";
    user->must("ROLLBACK");
  }
  user->must("BEGIN");
  EXPECT_EQ(user->admit(std::string("a\0b", 3), "payout", 1), errc::invalid_options);
  user->must("ROLLBACK");
}

TEST_P(PostgresGuardTest, SeveralResourcesAreAdmittedTogetherOrNotAtAll) {
  EXPECT_FALSE(user->admitted("b", 7));
  PostgresGuard guard{user->session()};
  const std::array<std::string_view, 3> three = {"c", "a", "b"};
  user->must("BEGIN");
  std::error_code ec;
  guard.admit_all(three, "payout", Fence{6}, Fence::none, ec);
  EXPECT_EQ(ec, errc::stale_fence);
  user->must("ROLLBACK");
  EXPECT_EQ(user->one("SELECT count(*) FROM holdfast.guard_mark"), "1");
  user->must("BEGIN");
  guard.admit_all(three, "payout", Fence{8});
  user->must("COMMIT");
  EXPECT_EQ(user->one("SELECT count(*) FROM holdfast.guard_mark WHERE mark = 8"), "3");
  user->must("BEGIN");
  guard.admit_all({}, "payout", Fence{8}, Fence::none, ec);
  EXPECT_EQ(ec, errc::invalid_options);
  user->must("ROLLBACK");
}

// A caller's own tables and operators must not get between the guard and its marks.
TEST_P(PostgresGuardTest, TheSearchPathOfACallerChangesNothing) {
  EXPECT_FALSE(user->admitted("r", 10));
  user->must("BEGIN");
  user->must(
      "CREATE SCHEMA trap; CREATE TABLE trap.guard_mark(resource text, name text, mark bigint);"
      "CREATE FUNCTION trap.le(bigint, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';"
      "CREATE OPERATOR trap.<= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = trap.le);"
      "SET LOCAL search_path = trap, pg_catalog");
  EXPECT_EQ(user->admit("r", "payout", 9), errc::stale_fence);
  user->must("ROLLBACK");
}

// A role that may only use the schema can be guarded, and cannot lower a mark.
TEST_P(PostgresGuardTest, WritersNeedOnlyTheUseOfTheSchema) {
  EXPECT_FALSE(user->admitted("r", 10));
  const std::string role =
      "writer_" + direct.substr(direct.rfind('/') + 1) + (GetParam() ? "_pooled" : "_direct");
  user->must("CREATE ROLE " + role);
  user->must("BEGIN; SET LOCAL ROLE " + role);
  EXPECT_EQ(user->admit("r", "payout", 11), errc::access_denied);
  user->must("ROLLBACK; GRANT USAGE ON SCHEMA holdfast TO " + role);
  user->must("BEGIN; SET LOCAL ROLE " + role);
  EXPECT_FALSE(user->admit("r", "payout", 11));
  EXPECT_EQ(user->run("UPDATE holdfast.guard_mark SET mark = 1"), "42501");
  user->must("ROLLBACK");
}

// ---- C39: stale writer after a pause ----------------------------------------------------------

TEST_P(C39PostgresGuard, RegisteringShutsPredecessorsOut) {
  EXPECT_FALSE(user->admitted("ledger", 1));
  EXPECT_FALSE(user->admitted("ledger", 2)) << "B admits and writes nothing";
  EXPECT_EQ(user->admitted("ledger", 1), errc::stale_fence);
}

TEST_P(C39PostgresGuard, TheSameFenceWritesTwice) {
  for (int i = 0; i < 2; ++i) {
    user->must("BEGIN");
    EXPECT_FALSE(user->admit("ledger", "payout", 1));
    user->must("INSERT INTO ledger(fence) VALUES(1); COMMIT");
  }
  EXPECT_EQ(user->one("SELECT count(*) FROM ledger"), "2");
}

TEST_P(C39PostgresGuard, ABatchIsAllOrNothing) {
  EXPECT_FALSE(user->admitted("ledger", 2));
  user->must("BEGIN");
  user->must("INSERT INTO ledger(amount, fence) VALUES(1, 1), (2, 1)");
  EXPECT_EQ(user->admit("ledger", "payout", 1), errc::stale_fence);
  EXPECT_EQ(user->run("INSERT INTO ledger(amount, fence) VALUES(3, 1)"), "25P02");
  user->must("COMMIT");  // even so: the server makes it a rollback
  EXPECT_EQ(user->one("SELECT count(*) FROM ledger"), "0");
}

TEST_P(C39PostgresGuard, TwoResourcesOfOneLockAreIndependent) {
  EXPECT_FALSE(user->admitted("ledger", 2));
  EXPECT_FALSE(user->admitted("mail", 1));
  EXPECT_EQ(user->admitted("ledger", 1), errc::stale_fence);
  EXPECT_FALSE(user->admitted("mail", 1));
}

TEST_P(C39PostgresGuard, RefusesWhatIsNoFenceOfThisLock) {
  const auto refused = [&](std::string_view name, std::int64_t fence, std::int64_t floor) {
    user->must("BEGIN");
    const auto ec = user->admit("r", name, fence, floor);
    user->must("ROLLBACK");
    return ec;
  };
  for (const std::int64_t fence :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_EQ(refused("payout", fence, 0), errc::invalid_options) << fence;
  }
  EXPECT_EQ(refused("", 1, 0), errc::invalid_options);
  EXPECT_EQ(refused("payout", 5, 6), errc::invalid_options);
  EXPECT_EQ(refused("payout", 5, -1), errc::invalid_options);
  EXPECT_EQ(user->one("SELECT count(*) FROM holdfast.guard_mark"), "0");
  EXPECT_FALSE(user->admitted("r", 5));
  EXPECT_EQ(refused("another lock", 6, 0), errc::invalid_options);
}

// A that is stopped with the mark locked keeps B waiting, not for ever: the server can end a
// transaction that does nothing, and A learns it at its next statement.
TEST_P(C39PostgresGuard, AWriterStoppedInsideItsTransactionLosesIt) {
  EXPECT_FALSE(user->admitted("ledger", 1));
  PgUser stopped{url};
  stopped.must("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '50ms'");
  EXPECT_FALSE(stopped.admit("ledger", "payout", 1));
  EXPECT_FALSE(user->admitted("ledger", 2)) << "B waits until the server has ended A's session";
  EXPECT_NE(stopped.run("INSERT INTO ledger(fence) VALUES(1)"), "");
  EXPECT_EQ(user->one("SELECT count(*) FROM ledger"), "0");
}

// The same in plain SQL, as any driver sees it.
TEST_P(C39PostgresGuard, EveryRefusalHasItsSqlstate) {
  const auto state = [&](const std::string& arguments) {
    return user->run("SELECT holdfast.admit(" + arguments + ")");
  };
  EXPECT_EQ(state("'r', 'payout', 10"), "");
  EXPECT_EQ(state("'r', 'payout', '9'"), "HF001");
  EXPECT_EQ(state("resource => 'r', name => 'payout', fence => 12, floor => 11"), "");
  EXPECT_EQ(state("'r', 'payout', 10"), "HF001") << "below the floor";
  EXPECT_EQ(state("'r', 'other', 12"), "HF002");
  for (const char* const wrong :
       {"'r', 'payout', 0", "'r', 'payout', -3", "'r', 'payout', NULL", "'r', '', 12",
        "'r', NULL, 12", "NULL, 'payout', 12", "'r', 'payout', 12, 13", "'r', 'payout', 12, 0"}) {
    EXPECT_EQ(state(wrong), "HF003") << wrong;
  }
  EXPECT_EQ(state("'r', 'payout', ''"), "22P02") << "an unset $HOLDFAST_FENCE";
  EXPECT_EQ(state("'r', 'payout'"), "42883");
}

}  // namespace
}  // namespace holdfast::postgres_tests
