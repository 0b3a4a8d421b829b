#include "tests/support/postgres_server.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/free_port.hpp"

#include <libpq-fe.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace holdfast::test {

namespace {

constexpr const char* server_user = "postgres";

// Debian keeps the servers' programs out of PATH, a folder a version. The newest, or "".
std::string programs() {
  std::error_code none;
  std::string newest;
  int newest_version = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
    const int version = std::atoi(entry.path().filename().c_str());
    if (version > newest_version && std::filesystem::exists(entry.path() / "bin/postgres")) {
      newest = entry.path() / "bin";
      newest_version = version;
    }
  }
  return newest;
}

std::string program(const std::string& name) { return programs() + "/" + name; }

// The data directory that every server starts from: initdb takes ten times as long as a copy.
const std::string& fresh_data() {
  static const TempDir dir;
  static const std::string data = [] {
    const std::string path = dir / "data";
    give_to_postgres_user(dir.path());
    run_tool(as_postgres_user({program("initdb"), "-D", path, "-A", "trust", "-U", "postgres",
                               "--no-sync", "-E", "UTF8", "--locale=C"}));
    return path;
  }();
  return data;
}

struct Finish {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};

struct Clear {
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};

std::string text_of(const PGresult* result) {
  std::string text;
  for (int row = 0; row < PQntuples(result); ++row) {
    for (int column = 0; column < PQnfields(result); ++column) {
      text += column == 0 ? (row == 0 ? "" : "\n") : "|";
      text += PQgetvalue(result, row, column);
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> as_postgres_user(std::vector<std::string> words) {
  std::vector<std::string> all = {"setpriv", "--pdeathsig", "INT"};
  if (geteuid() == 0) {
    const std::string user = server_user;
    all.insert(all.end(), {"--reuid=" + user, "--regid=" + user, "--init-groups"});
  }
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

void give_to_postgres_user(const std::string& path) {
  if (geteuid() != 0) return;
  const passwd* const user = getpwnam(server_user);
  if (user == nullptr || chown(path.c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("cannot give " + path + " to the user postgres");
  }
}

bool PostgresServer::installed() {
  return !programs().empty() && (geteuid() != 0 || getpwnam(server_user) != nullptr);
}

PostgresServer& PostgresServer::shared() {
  static PostgresServer server;
  return server;
}

PostgresServer::PostgresServer(PostgresOptions options) : options_(std::move(options)) {
  const std::string data = dir_ / "data";
  run_tool({"cp", "-a", fresh_data(), data});
  give_to_postgres_user(dir_.path());
  if (!options_.hba.empty()) {
    std::ifstream old(data + "/pg_hba.conf");
    const std::string rest{std::istreambuf_iterator<char>(old), {}};
    std::ofstream(data + "/pg_hba.conf") << options_.hba << '\n' << rest;
  }
  for (int attempt = 0; attempt < 5; ++attempt) {
    port_ = free_port();
    if (start_once()) return;
  }
  throw std::runtime_error("PostgreSQL does not start: " + process_->err());
}

PostgresServer::~PostgresServer() {
  if (process_ == nullptr || !process_->running()) return;
  process_->signal(SIGINT);
  if (!process_->wait(std::chrono::seconds{10})) process_->signal(SIGQUIT);
  process_->wait();
}

std::string PostgresServer::url(const std::string& database, const std::string& user) const {
  return "postgres://" + user + "@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

std::vector<std::string> PostgresServer::arguments() const {
  std::vector<std::string> words = {program("postgres"),
                                    "-D",
                                    dir_ / "data",
                                    "-p",
                                    std::to_string(port_),
                                    "-k",
                                    dir_.path(),
                                    "-c",
                                    "listen_addresses=127.0.0.1",
                                    "-c",
                                    "shared_buffers=16MB",
                                    "-c",
                                    std::string("fsync=") + (options_.durable ? "on" : "off")};
  for (const std::string& setting : options_.more) {
    words.insert(words.end(), {"-c", setting});
  }
  return as_postgres_user(std::move(words));
}

bool PostgresServer::start_once() {
  process_ = std::make_unique<Process>(ProcessOptions{.args = arguments()});
  bool answers = false;
  eventually([&] {
    answers = PQping((url() + "?connect_timeout=5").c_str()) == PQPING_OK;
    return answers || !process_->running();
  });
  return answers && process_->running();  // another program's server may answer on that port
}

void PostgresServer::shut_down() {
  process_->signal(SIGINT);
  if (!process_->wait()) throw std::runtime_error("PostgreSQL does not end");
}

void PostgresServer::crash() {
  process_->signal(SIGQUIT);
  if (!process_->wait()) throw std::runtime_error("PostgreSQL does not end");
}

void PostgresServer::start() {
  if (!start_once()) throw std::runtime_error("PostgreSQL does not start: " + process_->err());
}

void PostgresServer::restart() {
  shut_down();
  start();
}

std::string PostgresServer::new_database() {
  const std::string name = "test_" + std::to_string(++databases_);
  run("CREATE DATABASE " + name);
  return url(name);
}

std::string PostgresServer::run(const std::string& sql, const std::string& database) const {
  return run_at(url(database), sql);
}

std::string PostgresServer::run_at(const std::string& url, const std::string& sql) {
  const std::unique_ptr<PGconn, Finish> connection(PQconnectdb(url.c_str()));
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    throw std::runtime_error(PQerrorMessage(connection.get()));
  }
  PQsetNoticeProcessor(
      connection.get(), [](void*, const char*) {}, nullptr);
  const std::unique_ptr<PGresult, Clear> result(PQexec(connection.get(), sql.c_str()));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(sql + ": " + PQerrorMessage(connection.get()));
  }
  return text_of(result.get());
}

}  // namespace holdfast::test
