// Jobs in other languages, which know only HOLDFAST_NAME, HOLDFAST_FENCE and the SQL: psql, Python,
// a shell script. Each is let in under `holdfast run`, and refused with HF001 when it comes late.
#include "tests/chaos/postgres_command.hpp"
#include "tests/support/temp_dir.hpp"

#include <fstream>

namespace holdfast::test {
namespace {

struct Job {
  std::string name{};
  std::string file{};
  std::string text{};
  std::vector<std::string> command{};  // the file comes behind it
};

std::ostream& operator<<(std::ostream& out, const Job& job) { return out << job.name; }

// Exits 0 when it wrote, 3 when it was refused as stale, else with something else.
const Job psql_job{.name = "psql",
                   .file = "job.sql",
                   .text = R"(\set ON_ERROR_STOP on
\set VERBOSITY verbose
\getenv name HOLDFAST_NAME
\getenv fence HOLDFAST_FENCE
BEGIN;
SELECT holdfast.admit('ledger', :'name', :fence);
INSERT INTO ledger(fence) VALUES(:fence);
COMMIT;
)",
                   .command = {"psql", "-X", "-q", "-f"}};

const Job shell_job{.name = "shell",
                    .file = "job.sh",
                    .text = R"(psql -X -q -v ON_ERROR_STOP=1 -v VERBOSITY=sqlstate <<SQL
BEGIN;
SELECT holdfast.admit('ledger', '$HOLDFAST_NAME', $HOLDFAST_FENCE);
INSERT INTO ledger(fence) VALUES($HOLDFAST_FENCE);
COMMIT;
SQL
)",
                    .command = {"sh"}};

const Job python_job{.name = "python",
                     .file = "job.py",
                     .text = R"py(import os, sys, psycopg2
connection = psycopg2.connect(os.environ["PGURL"])
try:
    with connection, connection.cursor() as cursor:  # one transaction
        fence = int(os.environ["HOLDFAST_FENCE"])
        cursor.execute("SELECT holdfast.admit(%s, %s, %s)",
                       ("ledger", os.environ["HOLDFAST_NAME"], fence))
        cursor.execute("INSERT INTO ledger(fence) VALUES(%s)", (fence,))
except psycopg2.Error as error:
    print(error.pgcode, file=sys.stderr)
    sys.exit(3 if error.pgcode == "HF001" else 1)
)py",
                     .command = {"/usr/bin/python3"}};

bool has_psycopg2() {
  Process python({.args = {"/usr/bin/python3", "-c", "import psycopg2"}});
  return python.wait() == 0;
}

class PostgresJob : public PostgresCommand, public ::testing::WithParamInterface<Job> {
 protected:
  void SetUp() override {
    PostgresCommand::SetUp();
    if (IsSkipped()) return;
    HOLDFAST_NEEDS("postgres", is_in_path("psql"), "there is no psql (apt: postgresql)");
    HOLDFAST_NEEDS("postgres", GetParam().name != "python" || has_psycopg2(),
                   "there is no psycopg2 (apt: python3-psycopg2)");
    PostgresServer::run_at(url, "CREATE TABLE ledger(id serial, fence bigint)");
    Process install({.args = {HOLDFAST_COMMAND, "guard", "install", url}});
    ASSERT_EQ(install.wait(), 0) << install.err();
    std::ofstream(folder_ / GetParam().file) << GetParam().text;
  }

  // The job alone, or behind `before`; what the wrapper does not set comes from `more`.
  ProcessOptions job(std::vector<std::string> before,
                     std::vector<std::pair<std::string, std::string>> more) const {
    before.insert(before.end(), GetParam().command.begin(), GetParam().command.end());
    before.push_back(folder_ / GetParam().file);
    more.insert(more.end(), {{"PGURL", url},
                             {"PGHOST", "127.0.0.1"},
                             {"PGPORT", std::to_string(PostgresServer::shared().port())},
                             {"PGUSER", "postgres"},
                             {"PGDATABASE", database()}});
    return {.args = std::move(before), .env = std::move(more)};
  }
  std::string rows() const { return PostgresServer::run_at(url, "SELECT count(*) FROM ledger"); }

  TempDir folder_{};
};

INSTANTIATE_TEST_SUITE_P(Jobs, PostgresJob, testing::Values(psql_job, shell_job, python_job),
                         [](const auto& which) { return which.param.name; });

TEST_P(PostgresJob, IsLetInUnderTheLockAndRefusedWhenItIsLate) {
  const std::string store = "sqlite://" + (folder_ / "locks.db").string();
  Process first(job({HOLDFAST_COMMAND, "run", "--store", store, "payout", "--"}, {}));
  EXPECT_EQ(first.wait(), 0) << first.err() << first.out();
  EXPECT_EQ(rows(), "1");
  // The fence of an earlier holder that was asleep.
  Process late(job({}, {{"HOLDFAST_NAME", "payout"}, {"HOLDFAST_FENCE", "5"}}));
  EXPECT_EQ(late.wait(), 3) << late.err();
  EXPECT_NE(late.err().find("HF001"), std::string::npos) << late.err();
  EXPECT_EQ(rows(), "1") << "nothing of the late one was written";
  // Not run under a lock at all.
  Process bare(job({}, {{"HOLDFAST_NAME", "payout"}, {"HOLDFAST_FENCE", "0"}}));
  EXPECT_NE(bare.wait(), 0);
  EXPECT_NE(bare.err().find("HF003"), std::string::npos) << bare.err();
  Process other(job({}, {{"HOLDFAST_NAME", "other"}, {"HOLDFAST_FENCE", "9000000000000000000"}}));
  EXPECT_NE(other.wait(), 0);
  EXPECT_NE(other.err().find("HF002"), std::string::npos) << other.err();
  EXPECT_EQ(rows(), "1");
}

}  // namespace
}  // namespace holdfast::test
