#include "cli/redis_pair.hpp"

#include <holdfast/error.hpp>
#include <holdfast/types.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

constexpr Duration start_limit = std::chrono::seconds{10};

// A port that nobody listens on just now.
std::uint16_t free_port() {
  std::uint16_t port = 0;
  listen_on_loopback(port);
  return port;
}

}  // namespace

bool RedisPair::installed() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders{path != nullptr ? path : ""};
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/redis-server").c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

RedisPair::RedisPair(const std::string& folder)
    : primary_(start(folder, "one")), replica_(start(folder, "two")) {
  replicate(primary_, replica_);
  forwarder_ = std::make_unique<Forwarder>(primary_.port);
}

RedisPair::~RedisPair() {
  for (const Server& server : {primary_, replica_}) {
    kill(server.pid, SIGKILL);
    waitpid(server.pid, nullptr, 0);
  }
}

std::string RedisPair::url() const {
  return "redis://127.0.0.1:" + std::to_string(forwarder_->port()) + "/0";
}

RedisPair::Server RedisPair::start(const std::string& folder, const std::string& name) {
  const std::uint16_t port = free_port();
  const std::string file = name + ".rdb";
  const Actor actor = launch_actor([&](Descriptor) {
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(log, STDOUT_FILENO);
    execlp("redis-server", "redis-server", "--port", std::to_string(port).c_str(), "--bind",
           "127.0.0.1", "--dir", folder.c_str(), "--dbfilename", file.c_str(), "--save", "",
           "--appendonly", "no", "--repl-diskless-sync-delay", "0", nullptr);
  });
  const Server server{actor.pid, port};
  await(server, "PING", "PONG");
  return server;
}

// Inline commands: all that the server says before it closes. Empty if nobody answers.
std::string RedisPair::ask(const Server& server, const std::string& words) const {
  const Descriptor socket = connect_to_loopback(server.port);
  const std::string request = words + "\r\nQUIT\r\n";
  std::string answer;
  if (socket.get() < 0 || send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return answer;
  }
  std::array<char, 4096> bytes{};
  for (ssize_t count = 1; count > 0;) {
    count = recv(socket.get(), bytes.data(), bytes.size(), 0);
    answer.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return answer;
}

void RedisPair::await(const Server& server, const std::string& words,
                      const std::string& answer) const {
  const Instant end = BootClock::now() + start_limit;
  while (ask(server, words).find(answer) == std::string::npos) {
    if (BootClock::now() > end) {
      throw Error{errc::store_unavailable, "a redis-server for the failover did not start"};
    }
    poll(nullptr, 0, 20);  // it tells nobody when it is ready
  }
}

void RedisPair::replicate(const Server& from, const Server& to) const {
  ask(to, "REPLICAOF 127.0.0.1 " + std::to_string(from.port));
  await(to, "INFO replication", "master_link_status:up");
}

void RedisPair::cut_replication() { ask(replica_, "REPLICAOF 127.0.0.1 1"); }

void RedisPair::fail_over() {
  ask(replica_, "REPLICAOF NO ONE");
  std::swap(primary_, replica_);
  forwarder_->switch_to(primary_.port);
  replicate(primary_, replica_);
}

}  // namespace holdfast::cli
