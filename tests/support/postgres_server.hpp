// A real PostgreSQL server on the loopback in a directory of its own, run by an unprivileged user
// (`postgres` when the tests are root). The first one in a process costs an initdb, 0.5 s; a test
// that only wants a database takes one of the shared server's.
//
//   HOLDFAST_NEEDS("postgres", PostgresServer::installed(), PostgresServer::how_to_install);
//   const std::string url = PostgresServer::shared().new_database();
//
//   PostgresServer server;  // of its own: for tests that stop it
//   server.run("CREATE TABLE t(x int)");
//   server.restart();
#pragma once

#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

struct PostgresOptions {
  bool durable = false;             // fsync; without it a commit does not wait for the disk
  std::string hba{};                // lines put before those that let everybody in
  std::vector<std::string> more{};  // further settings: "max_connections=20"
};

class PostgresServer {
 public:
  static bool installed();
  static constexpr const char* how_to_install = "there is no PostgreSQL server (apt: postgresql)";

  // Running until this process ends; its setup must stay as it is.
  static PostgresServer& shared();

  explicit PostgresServer(PostgresOptions options = {});  // answers when it returns
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  std::uint16_t port() const noexcept { return port_; }
  std::string socket_directory() const { return dir_.path(); }
  pid_t pid() const { return process_->pid(); }  // of the postmaster
  // postgres://postgres@127.0.0.1:PORT/postgres; the user may do everything.
  std::string url(const std::string& database = "postgres",
                  const std::string& user = "postgres") const;

  void shut_down();  // SIGINT: ends the sessions and writes everything
  void crash();      // SIGQUIT: ends them at once; the next start() recovers from the log
  void start();      // on the same port, with the same files
  void restart();    // shut_down() and start()

  std::string new_database();  // empty; its url()

  // Runs SQL as the superuser on a connection of its own. The answer is that of the last
  // statement as `psql -At` shows it: columns between '|', a line a row. Throws
  // std::runtime_error with the server's words.
  std::string run(const std::string& sql, const std::string& database = "postgres") const;
  // The same on any place.
  static std::string run_at(const std::string& url, const std::string& sql);

 private:
  std::vector<std::string> arguments() const;
  bool start_once();

  PostgresOptions options_;
  TempDir dir_{};
  std::uint16_t port_ = 0;
  int databases_ = 0;
  std::unique_ptr<Process> process_{};
};

// The words that make a program run as the user that PostgreSQL's servers accept, and end it when
// this process dies: put before the program's own.
std::vector<std::string> as_postgres_user(std::vector<std::string> words);

// Hands a file to that user.
void give_to_postgres_user(const std::string& path);

}  // namespace holdfast::test
