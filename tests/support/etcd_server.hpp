// A real etcd on the loopback in a directory of its own: one node, or a cluster of several. One
// node answers after 0.4 s, three after about two seconds.
//
//   HOLDFAST_NEEDS("etcd", EtcdServer::installed(), EtcdServer::how_to_install);
//   const std::string url = EtcdServer::shared().url() + "?prefix=mine/";
//
//   EtcdServer cluster{{.nodes = 3}};  // of its own: for tests that bend it
//   cluster.kill_hard(cluster.leader());
#pragma once

#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

struct EtcdOptions {
  std::size_t nodes = 1;
  bool tls = false;             // with the good one of TestCertificates, for clients
  std::string root_password{};  // not empty: only users with a password are let in; root is one
};

class EtcdServer {
 public:
  static bool installed();
  static constexpr const char* how_to_install =
      "there is no etcd, or no etcdctl (apt: etcd-server, etcd-client)";

  // One plain node, running until this process ends; its setup must stay as it is.
  static EtcdServer& shared();

  explicit EtcdServer(EtcdOptions options = {});  // answers when it returns
  EtcdServer(const EtcdServer&) = delete;
  EtcdServer& operator=(const EtcdServer&) = delete;
  ~EtcdServer();

  std::size_t size() const noexcept { return nodes_.size(); }
  std::string url() const;  // etcd://127.0.0.1:PORT,…[?tls_ca=…]
  std::size_t leader();     // throws std::runtime_error if there is none for 10 s

  void freeze(std::size_t node);     // SIGSTOP
  void thaw(std::size_t node);       // SIGCONT
  void kill_hard(std::size_t node);  // SIGKILL
  void start(std::size_t node);      // on the same ports, with the same data
  void restart();                    // all of them, by SIGTERM

  // Runs etcdctl with these arguments and gives what it wrote; throws std::runtime_error when it
  // fails.
  std::string ctl(std::vector<std::string> arguments) const;
  // The command line of etcdctl, for one that goes on running.
  std::vector<std::string> ctl_line(std::vector<std::string> arguments) const;

 private:
  struct Node {
    std::uint16_t client_port = 0;
    std::uint16_t peer_port = 0;
    std::unique_ptr<Process> process{};
  };

  std::vector<std::string> arguments(std::size_t node) const;
  std::string endpoint(std::size_t node) const;
  bool start_all();
  bool answers() const;
  void ask_for_passwords();

  EtcdOptions options_;
  TempDir dir_{};
  std::vector<Node> nodes_{};
  bool guarded_ = false;  // authentication is on
};

}  // namespace holdfast::test
