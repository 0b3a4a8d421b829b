#include "tests/support/pgbouncer.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/free_port.hpp"

#include <libpq-fe.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace holdfast::test {

namespace {

std::string program() {
  return is_in_path("pgbouncer") ? "pgbouncer" : "/usr/sbin/pgbouncer";  // not in every PATH
}

}  // namespace

bool PgBouncer::installed() {
  return is_in_path("pgbouncer") || access("/usr/sbin/pgbouncer", X_OK) == 0;
}

PgBouncer::PgBouncer(const PostgresServer& server, int pool_size) {
  give_to_postgres_user(dir_.path());
  for (int attempt = 0; attempt < 5; ++attempt) {
    port_ = free_port();
    if (start_once(server, pool_size)) return;
  }
  throw std::runtime_error("pgbouncer does not start: " + process_->err() + process_->out());
}

std::string PgBouncer::url(const std::string& database, const std::string& user) const {
  return "postgres://" + user + "@127.0.0.1:" + std::to_string(port_) + "/" + database;
}

bool PgBouncer::start_once(const PostgresServer& server, int pool_size) {
  const std::string settings = dir_ / "pgbouncer.ini";
  std::ofstream(dir_ / "users") << "\"postgres\" \"\"\n";
  std::ofstream(settings) << "[databases]\n* = host=127.0.0.1 port=" << server.port()
                          << "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port_
                          << "\nunix_socket_dir =\npool_mode = transaction\nauth_type = trust\n"
                             "auth_file = "
                          << (dir_ / "users").string() << "\nserver_check_delay = 0\n"
                          << "default_pool_size = " << pool_size
                          << "\nmax_client_conn = 200\nlog_connections = 0\n"
                             "log_disconnections = 0\n";
  process_ =
      std::make_unique<Process>(ProcessOptions{.args = as_postgres_user({program(), settings})});
  bool answers = false;
  eventually([&] {
    answers = PQping((url() + "?connect_timeout=5").c_str()) == PQPING_OK;
    return answers || !process_->running();
  });
  return answers && process_->running();
}

}  // namespace holdfast::test
