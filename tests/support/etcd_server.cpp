#include "tests/support/etcd_server.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/free_port.hpp"
#include "tests/support/test_certificates.hpp"

#include <csignal>
#include <stdexcept>
#include <utility>

namespace holdfast::test {

namespace {

constexpr std::chrono::seconds patience{20};
constexpr int starts_tried = 5;

}  // namespace

bool EtcdServer::installed() { return is_in_path("etcd") && is_in_path("etcdctl"); }

EtcdServer& EtcdServer::shared() {
  static EtcdServer server;
  return server;
}

EtcdServer::EtcdServer(EtcdOptions options) : options_(std::move(options)) {
  nodes_.resize(options_.nodes);
  for (int attempt = 0; attempt < starts_tried; ++attempt) {
    if (start_all()) {
      if (!options_.root_password.empty()) {
        ask_for_passwords();
      }
      return;
    }
  }
  throw std::runtime_error("etcd does not start: " + nodes_.front().process->err());
}

EtcdServer::~EtcdServer() {
  for (Node& node : nodes_) {
    if (node.process) {
      node.process->signal(SIGKILL);
    }
  }
}

bool EtcdServer::start_all() {
  for (Node& node : nodes_) {
    node.client_port = free_port();
    node.peer_port = free_port();
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    start(i);
  }
  return eventually([this] { return answers(); }, patience);
}

bool EtcdServer::answers() const {
  Process health({.args = ctl_line({"endpoint", "health", "--dial-timeout=300ms"}),
                  .env = {{"ETCDCTL_API", "3"}}});
  return health.wait(std::chrono::seconds{10}) == 0;
}

std::string EtcdServer::endpoint(std::size_t node) const {
  return (options_.tls ? "https://127.0.0.1:" : "http://127.0.0.1:") +
         std::to_string(nodes_.at(node).client_port);
}

std::vector<std::string> EtcdServer::arguments(std::size_t node) const {
  const auto peer = [this](std::size_t i) {
    return "http://127.0.0.1:" + std::to_string(nodes_.at(i).peer_port);
  };
  std::string cluster;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    cluster += (i == 0 ? "n" : ",n") + std::to_string(i) + "=" + peer(i);
  }
  const std::string name = "n" + std::to_string(node);
  std::vector<std::string> line{"etcd",
                                "--name",
                                name,
                                "--data-dir",
                                (dir_ / name).string(),
                                "--listen-client-urls",
                                endpoint(node),
                                "--advertise-client-urls",
                                endpoint(node),
                                "--listen-peer-urls",
                                peer(node),
                                "--initial-advertise-peer-urls",
                                peer(node),
                                "--initial-cluster",
                                cluster,
                                "--initial-cluster-state",
                                "new",
                                "--logger",
                                "zap",
                                "--log-level",
                                "error"};
  if (options_.tls) {
    const TestCertificates& made = TestCertificates::get();
    line.insert(line.end(), {"--cert-file", made.certificate(TestCertificates::Kind::good),
                             "--key-file", made.key(TestCertificates::Kind::good)});
  }
  return line;
}

void EtcdServer::start(std::size_t node) {
  nodes_.at(node).process.reset();
  nodes_.at(node).process = std::make_unique<Process>(ProcessOptions{.args = arguments(node)});
}

void EtcdServer::freeze(std::size_t node) { nodes_.at(node).process->signal(SIGSTOP); }
void EtcdServer::thaw(std::size_t node) { nodes_.at(node).process->signal(SIGCONT); }

void EtcdServer::kill_hard(std::size_t node) {
  nodes_.at(node).process->signal(SIGKILL);
  nodes_.at(node).process->wait();
}

void EtcdServer::restart() {
  for (Node& node : nodes_) {
    node.process->signal(SIGTERM);
    node.process->wait();
  }
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    start(i);
  }
  if (!eventually([this] { return answers(); }, patience)) {
    throw std::runtime_error("etcd does not come back");
  }
}

std::string EtcdServer::url() const {
  std::string text = "etcd://";
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    text += (i == 0 ? "" : ",") + ("127.0.0.1:" + std::to_string(nodes_[i].client_port));
  }
  return options_.tls ? text + "?tls_ca=" + TestCertificates::get().authority() : text;
}

std::size_t EtcdServer::leader() {
  std::size_t found = nodes_.size();
  const bool is_there = eventually([&] {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Process status({.args = {"etcdctl", "--endpoints", endpoint(i), "endpoint", "status",
                               "--dial-timeout=300ms", "--command-timeout=1s"},
                      .env = {{"ETCDCTL_API", "3"}}});
      // endpoint, id, version, size, is leader, …
      if (status.wait() == 0 && status.out().find(" true, ") != std::string::npos &&
          status.out().find(" true, ") < status.out().find(" false, ")) {
        found = i;
        return true;
      }
    }
    return false;
  });
  if (!is_there) {
    throw std::runtime_error("the cluster has no leader");
  }
  return found;
}

std::vector<std::string> EtcdServer::ctl_line(std::vector<std::string> more) const {
  std::string endpoints;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    endpoints += (i == 0 ? "" : ",") + endpoint(i);
  }
  std::vector<std::string> line{"etcdctl", "--endpoints", endpoints};
  if (options_.tls) {
    line.insert(line.end(), {"--cacert", TestCertificates::get().authority()});
  }
  if (guarded_) {
    line.insert(line.end(), {"--user", "root:" + options_.root_password});
  }
  line.insert(line.end(), more.begin(), more.end());
  return line;
}

std::string EtcdServer::ctl(std::vector<std::string> more) const {
  Process tool({.args = ctl_line(std::move(more)), .env = {{"ETCDCTL_API", "3"}}});
  if (tool.wait() != 0) {
    throw std::runtime_error("etcdctl: " + tool.out() + tool.err());
  }
  return tool.out();
}

void EtcdServer::ask_for_passwords() {
  ctl({"user", "add", "root:" + options_.root_password});
  ctl({"user", "grant-role", "root", "root"});
  ctl({"auth", "enable"});
  guarded_ = true;
}

}  // namespace holdfast::test
