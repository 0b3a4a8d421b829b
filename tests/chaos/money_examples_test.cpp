// examples/payout and examples/settlement as users run them: several instances, one killed, one
// late.
#include "tests/chaos/command_test.hpp"
#include "tests/support/postgres_server.hpp"

#include <csignal>
#include <memory>
#include <vector>

namespace holdfast::test {

namespace {

class MoneyExamples : public CommandTest {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
    CommandTest::SetUp();
    database_ = PostgresServer::shared().new_database();
  }

  std::string sql(const std::string& text) const { return PostgresServer::run_at(database_, text); }

  std::unique_ptr<Process> start(const std::string& example, std::vector<std::string> more = {}) {
    ProcessOptions options = command({});
    options.args = {HOLDFAST_EXAMPLE_PREFIX + example, database_, url()};
    options.args.insert(options.args.end(), more.begin(), more.end());
    return std::make_unique<Process>(options);
  }

  // Sessions of the examples that wait for the lock on a table that the test holds.
  bool somebody_is_stuck() const {
    return eventually([&] {
      return sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND "
                 "datname = current_database()") != "0";
    });
  }

  const std::string& database() const { return database_; }

 private:
  std::string database_{};
};

// Holds a table so that whoever reads it stands still in the middle of its work.
class TableHold {
 public:
  TableHold(const std::string& database, const std::string& table)
      : session_({.args = {"psql", "-q", "-c", "LOCK TABLE " + table + "; SELECT pg_sleep(300)",
                           database}}) {
    const bool held = eventually([&] {
      return PostgresServer::run_at(database,
                                    "SELECT count(*) FROM pg_locks WHERE granted AND mode = "
                                    "'AccessExclusiveLock' AND relation = '" +
                                        table + "'::regclass") == "1";
    });
    EXPECT_TRUE(held);
  }
  void let_go() {
    session_.signal(SIGINT);
    session_.wait();
  }

 private:
  Process session_;
};

TEST_P(MoneyExamples, SixInstancesPayEveryOrderOnce) {
  sql("CREATE TABLE orders(order_id bigint PRIMARY KEY, amount numeric NOT NULL, "
      "paid boolean NOT NULL DEFAULT false, fence bigint NOT NULL DEFAULT 0)");
  sql("CREATE TABLE payout(order_id bigint NOT NULL, amount numeric NOT NULL)");
  sql("INSERT INTO orders SELECT i, 10 * i FROM generate_series(1, 50) AS i");
  std::vector<std::unique_ptr<Process>> instances;
  for (int i = 0; i < 6; ++i) {
    instances.push_back(start("payout"));
  }
  int paying = 0;
  for (const auto& instance : instances) {
    const int code = instance->wait(30s).value_or(-1);
    EXPECT_TRUE(code == 0 || code == 75) << code << instance->err();
    paying += code == 0 ? 1 : 0;
  }
  EXPECT_GE(paying, 1);
  EXPECT_EQ(sql("SELECT count(*), count(DISTINCT order_id), sum(amount) FROM payout"),
            "50|50|12750");
}

TEST_P(MoneyExamples, APayoutOfAStaleFenceEndsTheRun) {
  sql("CREATE TABLE orders(order_id bigint PRIMARY KEY, amount numeric NOT NULL, "
      "paid boolean NOT NULL DEFAULT false, fence bigint NOT NULL DEFAULT 0)");
  sql("CREATE TABLE payout(order_id bigint NOT NULL, amount numeric NOT NULL)");
  sql("INSERT INTO orders VALUES (1, 10, false, 9223372036854775807)");
  const auto instance = start("payout");
  EXPECT_EQ(instance->wait(30s), 76) << instance->err();
  EXPECT_EQ(sql("SELECT count(*) FROM payout"), "0");
}

class Settlement : public MoneyExamples {
 protected:
  void SetUp() override {
    MoneyExamples::SetUp();
    if (IsSkipped()) {
      return;
    }
    sql("CREATE TABLE sale(day date NOT NULL, amount numeric NOT NULL)");
    sql("CREATE TABLE settlement(day date PRIMARY KEY, total numeric NOT NULL, fence bigint "
        "NOT NULL)");
    sql("INSERT INTO sale SELECT '2026-11-29', i FROM generate_series(1, 100) AS i");
  }
  std::string settled() const { return sql("SELECT day, total FROM settlement"); }
};

TEST_P(Settlement, OneOfThreeDoesItAndALateOneChangesNothing) {
  std::vector<std::unique_ptr<Process>> instances;
  for (int i = 0; i < 3; ++i) {
    instances.push_back(start("settlement", {"2026-11-29"}));
  }
  int did = 0;
  for (const auto& instance : instances) {
    ASSERT_EQ(instance->wait(30s), 0) << instance->err();
    did += instance->out().find("is settled") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(did, 1);
  EXPECT_EQ(settled(), "2026-11-29|5050");

  // A host whose clock is wrong starts the same run again, and there are new sales by now.
  sql("INSERT INTO sale VALUES ('2026-11-29', 1000)");
  const auto late = start("settlement", {"2026-11-29"});
  ASSERT_EQ(late->wait(30s), 0) << late->err();
  EXPECT_NE(late->out().find("settled before"), std::string::npos) << late->out();
  EXPECT_EQ(settled(), "2026-11-29|5050");
}

TEST_P(Settlement, AnotherFinishesWhatAKilledOneBegan) {
  TableHold hold{database(), "sale"};
  const auto first = start("settlement", {"2026-11-29"});
  ASSERT_TRUE(somebody_is_stuck());
  const auto second = start("settlement", {"2026-11-29"});
  first->signal(SIGKILL);
  first->wait();
  hold.let_go();
  ASSERT_EQ(second->wait(30s), 0) << second->err();
  EXPECT_NE(second->out().find("is settled"), std::string::npos) << second->out();
  EXPECT_EQ(settled(), "2026-11-29|5050");
}

INSTANTIATE_TEST_SUITE_P(Stores, MoneyExamples, command_stores, store_name);
INSTANTIATE_TEST_SUITE_P(Stores, Settlement, command_stores, store_name);

}  // namespace

}  // namespace holdfast::test
