#include "tests/package/snippets.hpp"

namespace holdfast::test {
namespace {

class SqliteSnippets : public Snippets {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("sqlite3", is_in_path("sqlite3"), "there is no sqlite3 (apt: sqlite3)");
    must("sqlite3 ledger.db 'CREATE TABLE payment(orders INTEGER)'");
    must(blocks("Shell and SQLite", "sh")[0]);
  }
  const std::string look = "sqlite3 ledger.db 'SELECT count(*) FROM payment'";
};

TEST_F(SqliteSnippets, Shell) {
  const std::string job = file("job.sh", blocks("Shell and SQLite", "sh")[1]);
  expect_guarded({"/bin/sh", job}, "holdfast: stale fence", look);
}

TEST_F(SqliteSnippets, Python) {
  const std::string job = file("job.py", blocks("Python and SQLite", "python")[0]);
  expect_guarded({"/usr/bin/python3", job}, "refused: holdfast: stale fence", look);
}

TEST_F(SqliteSnippets, DoneBefore) {
  const std::string once = file("once.sql", blocks("Once, and with the same answer", "sql")[0]);
  must("sqlite3 -bail ledger.db < " + once);
  const Result again = shell("sqlite3 -bail ledger.db < " + once);
  EXPECT_NE(again.status, 0);
  EXPECT_THAT(again.output, HasSubstr("holdfast: done before"));
  EXPECT_EQ(shell(look).output, "1\n");
}

}  // namespace
}  // namespace holdfast::test
