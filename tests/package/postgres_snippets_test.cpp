#include "tests/package/snippets.hpp"
#include "tests/support/postgres_server.hpp"

namespace holdfast::test {
namespace {

class PostgresSnippets : public Snippets {
 protected:
  void SetUp() override {
    HOLDFAST_NEEDS("postgres", PostgresServer::installed() && is_in_path("psql"),
                   PostgresServer::how_to_install);
    const std::string url = PostgresServer::shared().new_database();
    PostgresServer::run_at(url, "CREATE TABLE payment(orders int)");
    environment.emplace_back("DATABASE_URL", url + "?sslmode=disable");
    environment.emplace_back(
        "JDBC_URL", "jdbc:postgresql://" + url.substr(url.find('@') + 1) + "?user=postgres");
    must(blocks("Shell and PostgreSQL", "sh")[0]);
  }
  const std::string look = "psql -At -c 'SELECT count(*) FROM payment' \"$DATABASE_URL\"";
};

using FullPostgresSnippets = PostgresSnippets;

TEST_F(PostgresSnippets, Shell) {
  const std::string job = file("job.sh", blocks("Shell and PostgreSQL", "sh")[1]);
  expect_guarded({"/bin/sh", job}, "stale fence", look);
}

TEST_F(PostgresSnippets, Python) {
  HOLDFAST_NEEDS("python3-psycopg2", shell("/usr/bin/python3 -c 'import psycopg2'").status == 0,
                 "there is no psycopg2 (apt: python3-psycopg2)");
  const std::string job = file("job.py", blocks("Python and PostgreSQL", "python")[0]);
  expect_guarded({"/usr/bin/python3", job}, "refused: ", look);
}

// Compiles the driver, which takes a minute the first time.
TEST_F(FullPostgresSnippets, Go) {
  const std::string modules = "/usr/share/gocode";
  HOLDFAST_NEEDS("go", is_in_path("go") && std::filesystem::exists(modules + "/src/github.com/lib"),
                 "there is no Go with lib/pq (apt: golang-go golang-github-lib-pq-dev)");
  file("job.go", blocks("Go", "go")[0]);
  must("GO111MODULE=off GOPATH=" + modules + " go build -o job job.go");
  expect_guarded({(folder / "job").string()}, "refused: ", look);
}

TEST_F(PostgresSnippets, Java) {
  const std::string driver = "/usr/share/java/postgresql.jar";
  HOLDFAST_NEEDS("java", is_in_path("javac") && std::filesystem::exists(driver),
                 "there is no Java with JDBC (apt: default-jdk libpostgresql-jdbc-java)");
  file("Payout.java", blocks("Java", "java")[0]);
  must("javac Payout.java");
  expect_guarded({"java", "-cp", ".:" + driver, "Payout"}, "refused: ", look);
}

}  // namespace
}  // namespace holdfast::test
