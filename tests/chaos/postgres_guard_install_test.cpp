// `holdfast guard install`: twice, at once, without rights, into an old version and a newer one.
#include "tests/chaos/postgres_command.hpp"

#include <filesystem>

namespace holdfast::test {
namespace {

class GuardInstall : public PostgresCommand {
 protected:
  struct Done {
    int status;
    std::string text;
  };
  Done install(const std::string& place, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {HOLDFAST_COMMAND, "guard", "install", place};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Process command({.args = arguments});
    const int status = command.wait().value_or(-1);
    return {status, command.out() + command.err()};
  }
  bool installed() {
    return PostgresServer::run_at(url, "SELECT to_regnamespace('holdfast') IS NOT NULL") == "t";
  }
  // A role that may log in and nothing else.
  std::string role() {
    const std::string name = "role_" + database();
    PostgresServer::run_at(url, "CREATE ROLE " + name + " LOGIN");
    return name;
  }
  std::string url_as(const std::string& role_name) {
    return PostgresServer::shared().url(database(), role_name);
  }
};

TEST_F(GuardInstall, SaysWhatItDidAndThatItWasThere) {
  const Done first = install(url, {"--json"});
  EXPECT_EQ(first.status, 0) << first.text;
  EXPECT_EQ(first.text, R"({"storage":"postgres","place":"database )" + database() +
                            "\",\"changed\":true,\"version\":1,\"before\":null}\n");
  const Done second = install(url);
  EXPECT_EQ(second.status, 0);
  EXPECT_EQ(second.text, "the guards version 1 were in database " + database() + " already\n");
}

TEST_F(GuardInstall, TwoHostsAtOnce) {
  for (int round = 0; round < 5; ++round) {
    PostgresServer::run_at(url, "DROP SCHEMA IF EXISTS holdfast CASCADE");
    std::vector<std::unique_ptr<Process>> hosts;
    for (int i = 0; i < 4; ++i) {
      hosts.push_back(std::make_unique<Process>(
          ProcessOptions{.args = {HOLDFAST_COMMAND, "guard", "install", url}}));
    }
    for (const auto& host : hosts) {
      EXPECT_EQ(host->wait(), 0) << host->err();
    }
    EXPECT_EQ(PostgresServer::run_at(url, "SELECT holdfast.admit('r', 'n', 1)"), "");
  }
}

TEST_F(GuardInstall, NamesTheMissingRight) {
  const std::string name = role();
  const Done none = install(url_as(name));
  EXPECT_EQ(none.status, 69);
  EXPECT_NE(none.text.find("CREATE SCHEMA holdfast AUTHORIZATION " + name), std::string::npos)
      << none.text;
  EXPECT_FALSE(installed());
  PostgresServer::run_at(url, "CREATE SCHEMA holdfast");
  const Done no_usage = install(url_as(name));
  EXPECT_EQ(no_usage.status, 69);
  EXPECT_NE(no_usage.text.find("GRANT USAGE, CREATE ON SCHEMA holdfast TO " + name),
            std::string::npos)
      << no_usage.text;
  PostgresServer::run_at(url, "GRANT USAGE ON SCHEMA holdfast TO " + name);
  const Done no_create = install(url_as(name));
  EXPECT_EQ(no_create.status, 69);
  EXPECT_NE(no_create.text.find("may not create in schema holdfast"), std::string::npos);
  EXPECT_EQ(PostgresServer::run_at(url,
                                   "SELECT count(*) FROM pg_class WHERE relnamespace = "
                                   "'holdfast'::regnamespace"),
            "0");
  PostgresServer::run_at(url, "GRANT CREATE ON SCHEMA holdfast TO " + name);
  const Done enough = install(url_as(name));
  EXPECT_EQ(enough.status, 0) << enough.text;
}

// An older version: fewer functions, another text of one, marks in use.
TEST_F(GuardInstall, UpgradesAnOldVersionAndKeepsItsMarks) {
  EXPECT_EQ(install(url).status, 0);
  PostgresServer::run_at(
      url,
      "SELECT holdfast.admit('ledger', 'payout', 7); DROP TABLE holdfast.once_key;"
      "DROP FUNCTION holdfast.once, holdfast.keep, holdfast.forget, holdfast.admit_all;"
      "CREATE OR REPLACE FUNCTION holdfast.guard_version() RETURNS integer LANGUAGE sql "
      "AS 'SELECT 0'");
  const std::string name = role();
  PostgresServer::run_at(url, "GRANT USAGE, CREATE ON SCHEMA holdfast TO " + name);
  const Done other = install(url_as(name));
  EXPECT_EQ(other.status, 69);
  EXPECT_NE(other.text.find("belongs to role \"postgres\""), std::string::npos) << other.text;
  const Done done = install(url, {"--json"});
  EXPECT_EQ(done.status, 0) << done.text;
  EXPECT_NE(done.text.find(R"("changed":true,"version":1,"before":0)"), std::string::npos)
      << done.text;
  EXPECT_EQ(PostgresServer::run_at(url, "SELECT mark FROM holdfast.guard_mark"), "7");
  EXPECT_EQ(PostgresServer::run_at(url, "SELECT first FROM holdfast.once('k')"), "t");
}

TEST_F(GuardInstall, LeavesANewerVersionAlone) {
  EXPECT_EQ(install(url).status, 0);
  PostgresServer::run_at(url,
                         "CREATE OR REPLACE FUNCTION holdfast.guard_version() RETURNS integer "
                         "LANGUAGE sql AS 'SELECT 99'");
  const Done done = install(url);
  EXPECT_EQ(done.status, 69);
  EXPECT_NE(done.text.find("version 99"), std::string::npos) << done.text;
}

// Something in the way half-way through: nothing of it stays.
TEST_F(GuardInstall, NothingIsHalfInstalled) {
  PostgresServer::run_at(url,
                         "CREATE FUNCTION stop() RETURNS event_trigger LANGUAGE plpgsql AS $$ "
                         "BEGIN RAISE 'no more functions'; END $$;"
                         "CREATE EVENT TRIGGER stop ON ddl_command_start "
                         "WHEN TAG IN ('CREATE FUNCTION') EXECUTE FUNCTION stop()");
  const Done done = install(url);
  EXPECT_NE(done.status, 0);
  EXPECT_NE(done.text.find("no more functions"), std::string::npos) << done.text;
  EXPECT_FALSE(installed());
}

TEST_F(GuardInstall, WrongPlacesAreOneClearLine) {
  for (const std::string& place :
       {"postgres://postgres@127.0.0.1:1/" + database(), url + "_none", url + "?mode=lease",
        std::string{"redis://127.0.0.1"}, std::string{"sqlite:///nowhere/app.db"},
        std::string{"postgres://x:1:2/db"}}) {
    const Done done = install(place);
    EXPECT_TRUE(done.status == 69 || done.status == 64) << place << ": " << done.status;
    EXPECT_EQ(std::count(done.text.begin(), done.text.end(), '\n'), 1) << done.text;
    EXPECT_EQ(done.text.rfind("holdfast: ", 0), 0U) << done.text;
  }
}

TEST(GuardInstallModule, IsMissedWithAClearLine) {
  const TempDir folder;
  const std::string alone = folder / "holdfast";
  std::filesystem::copy_file(HOLDFAST_COMMAND, alone);
  Process command({.args = {alone, "guard", "install", "postgres://db/shop"}});
  EXPECT_EQ(command.wait(), 69);
  EXPECT_NE(command.err().find("the PostgreSQL module is not installed"), std::string::npos)
      << command.err();
}

TEST(GuardInstallPassword, IsTakenFromTheEnvironmentAndNeverShown) {
  HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
  PostgresServer server{{.hba = "host all app 127.0.0.1/32 scram-sha-256"}};
  server.run(
      "CREATE ROLE app LOGIN PASSWORD 'open sesame'; CREATE SCHEMA holdfast AUTHORIZATION app");
  const auto install = [&](const std::string& password) {
    Process command({.args = {HOLDFAST_COMMAND, "guard", "install", server.url("postgres", "app")},
                     .env = {{"HOLDFAST_PASSWORD", password}}});
    const int status = command.wait().value_or(-1);
    return std::to_string(status) + " " + command.err();
  };
  const std::string wrong = install("not this one");
  EXPECT_EQ(wrong.rfind("69 holdfast: ", 0), 0U) << wrong;
  EXPECT_NE(wrong.find("password authentication failed"), std::string::npos) << wrong;
  EXPECT_EQ(wrong.find("not this one"), std::string::npos);
  EXPECT_EQ(install("open sesame"), "0 ");
}

TEST(GuardInstallSqlite, OnceAndAgain) {
  const TempDir folder;
  const std::string file = folder / "app.db";
  run_tool({"sqlite3", file, "CREATE TABLE ledger(id INTEGER PRIMARY KEY)"});
  for (const char* const expected : {"the guards are in ", "the guards were in "}) {
    Process command({.args = {HOLDFAST_COMMAND, "guard", "install", "sqlite://" + file}});
    EXPECT_EQ(command.wait(), 0) << command.err();
    EXPECT_EQ(command.out().rfind(expected, 0), 0U) << command.out();
  }
  run_tool({"sqlite3", file,
            "INSERT INTO holdfast_admit(resource, name, fence) VALUES('ledger', 'payout', 1)"});
}

}  // namespace
}  // namespace holdfast::test
