#include "cli/redis_process.hpp"

#include <holdfast/error.hpp>
#include <holdfast/types.hpp>

#include "cli/actor.hpp"
#include "cli/forwarder.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

constexpr Duration limit = std::chrono::seconds{10};

[[noreturn]] void become(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "redis-server");
  std::vector<char*> words;
  for (std::string& argument : arguments) {
    words.push_back(argument.data());
  }
  words.push_back(nullptr);
  const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(log, STDOUT_FILENO);
  execvp("redis-server", words.data());
  _exit(127);
}

}  // namespace

bool RedisProcess::installed() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders{path != nullptr ? path : ""};
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/redis-server").c_str(), X_OK) == 0) {
      return true;
    }
  }
  return false;
}

std::uint16_t RedisProcess::free_port() {
  std::uint16_t port = 0;
  listen_on_loopback(port);
  return port;
}

RedisProcess::RedisProcess(std::uint16_t port, std::vector<std::string> arguments)
    : port_(port), pid_(launch_actor([&](Descriptor) { become(std::move(arguments)); }).pid) {
  try {
    await("PING", "PONG");
  } catch (...) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    throw;
  }
}

RedisProcess::~RedisProcess() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void RedisProcess::freeze() const { kill(pid_, SIGSTOP); }
void RedisProcess::thaw() const { kill(pid_, SIGCONT); }

std::string RedisProcess::ask(const std::string& words) const {
  const Descriptor socket = connect_to_loopback(port_);
  const std::string request = words + "\r\n";
  std::string answer;
  if (socket.get() < 0 || send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return answer;
  }
  // It closes once it has answered: a sentinel knows no QUIT. One that is frozen does neither.
  shutdown(socket.get(), SHUT_WR);
  const timeval patience{1, 0};
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::array<char, 4096> bytes{};
  for (ssize_t count = 1; count > 0;) {
    count = recv(socket.get(), bytes.data(), bytes.size(), 0);
    answer.append(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return answer;
}

void RedisProcess::await(const std::string& words, const std::string& answer) const {
  const Instant end = BootClock::now() + limit;
  while (ask(words).find(answer) == std::string::npos) {
    if (BootClock::now() > end) {
      throw Error{errc::store_unavailable, "a redis-server of the demo does not get ready"};
    }
    poll(nullptr, 0, 10);  // it tells nobody when it is
  }
}

std::vector<std::string> redis_arguments(std::uint16_t port, const std::string& folder,
                                         const std::string& name) {
  return {"--port",
          std::to_string(port),
          "--bind",
          "127.0.0.1",
          "--dir",
          folder,
          "--dbfilename",
          name + ".rdb",
          "--save",
          "",
          "--appendonly",
          "no",
          "--repl-diskless-sync-delay",
          "0"};
}

}  // namespace holdfast::cli
