// A real redis-server on the loopback in a directory of its own. Starting costs milliseconds: a
// test that bends it (freezes, kills, flushes it) starts its own.
//
//   HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
//   RedisServer server;
//   open_store(server.url());
//   server.freeze();
#pragma once

#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/test_certificates.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct redisContext;

namespace holdfast::test {

struct RedisOptions {
  std::string bind = "127.0.0.1";               // or "::1"
  std::optional<TestCertificates::Kind> tls{};  // TLS with this certificate instead of plain TCP
  std::string password{};                       // of the default user
  std::vector<std::string> user{};              // one ACL user, as in ACL SETUSER; default is off
  bool persistent = false;                      // appendonly, fsync always
  std::vector<std::string> more{};              // further arguments: "--maxmemory", "1mb"
};

class RedisServer {
 public:
  static bool installed();
  static constexpr const char* how_to_install = "there is no redis-server (apt: redis-server)";

  explicit RedisServer(RedisOptions options = {});  // running when it returns
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;
  ~RedisServer();

  std::uint16_t port() const noexcept { return port_; }
  std::string unix_path() const { return (dir_ / "s").string(); }
  std::string url() const;       // redis://127.0.0.1:PORT, rediss://…?tls_ca=…
  std::string unix_url() const;  // redis+unix:///…
  pid_t pid() const { return process_->pid(); }

  void freeze();     // SIGSTOP: connections are accepted, nothing is answered
  void thaw();       // SIGCONT
  void kill_hard();  // SIGKILL; the port stays ours for start()
  void shut_down();  // SIGTERM, and waits for the end
  void start();      // on the same port, with the same files
  void restart();    // shut_down() and start()

  // Sends one command past every ACL and returns the answer as text: elements of an array a line
  // each, nil as "(nil)", an error as "-ERR …". Throws std::runtime_error without an answer in 5 s.
  std::string command(const std::vector<std::string>& words);

  // How often the server ran `name` ("evalsha") since its start or CONFIG RESETSTAT.
  std::int64_t calls(const std::string& name);

 private:
  struct Disconnect {
    void operator()(redisContext* context) const noexcept;
  };

  std::vector<std::string> arguments() const;
  bool start_once();

  RedisOptions options_;
  TempDir dir_{};
  std::uint16_t port_ = 0;
  std::unique_ptr<Process> process_{};
  std::unique_ptr<redisContext, Disconnect> admin_{};
};

}  // namespace holdfast::test
