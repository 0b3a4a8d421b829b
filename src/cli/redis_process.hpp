// One redis-server or sentinel of a demo, on the loopback: this process's own, and gone with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace holdfast::cli {

class RedisProcess {
 public:
  static bool installed();
  // A port that nobody listens on just now.
  static std::uint16_t free_port();

  // Answers when it returns; throws Error{store_unavailable} otherwise. `arguments`: those of
  // redis-server, the port among them. Precondition: one thread.
  RedisProcess(std::uint16_t port, std::vector<std::string> arguments);
  ~RedisProcess();
  RedisProcess(const RedisProcess&) = delete;
  RedisProcess& operator=(const RedisProcess&) = delete;

  std::uint16_t port() const noexcept { return port_; }
  void freeze() const;
  void thaw() const;

  // All that it says to these words, a command without quotes, before it closes. Empty: nothing.
  std::string ask(const std::string& words) const;
  // Asks until the answer contains `answer`; throws Error{store_unavailable} after ten seconds.
  void await(const std::string& words, const std::string& answer) const;

 private:
  std::uint16_t port_;
  pid_t pid_ = 0;
};

// What a redis-server of a demo is started with, besides its port.
std::vector<std::string> redis_arguments(std::uint16_t port, const std::string& folder,
                                         const std::string& name);

}  // namespace holdfast::cli
