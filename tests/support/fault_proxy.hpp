// A TCP proxy in this process that breaks the network on demand, between one client and one server.
//
//   FaultProxy proxy(server.port());
//   Client client("redis://127.0.0.1:" + std::to_string(proxy.port()));
//   proxy.set(FaultProxy::Mode::swallow_replies);
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

class FaultProxy {
 public:
  enum class Mode {
    pass,             // hands on both ways
    swallow_replies,  // requests go through, replies are dropped
    blackhole,        // both ways silent, connections stay open; kept back until `pass`
    reset,            // open connections are reset now, new ones as soon as they are made
    refuse,           // open ones go on, new ones are refused: nobody listens
  };

  struct Connection {
    std::uint64_t to_server = 0;  // bytes handed on
    std::uint64_t to_client = 0;
    std::uint64_t swallowed = 0;  // bytes of replies dropped
    bool open = true;
  };

  // To `host` (an IP literal) on `port`, or to the unix socket `path`. Throws std::system_error.
  explicit FaultProxy(std::uint16_t port, const std::string& host = "127.0.0.1");
  explicit FaultProxy(const std::string& unix_path);
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;
  ~FaultProxy();  // closes everything

  std::uint16_t port() const noexcept;  // on 127.0.0.1

  // All thread-safe, and in force when they return.
  void set(Mode mode);
  void delay_replies(std::chrono::milliseconds time);  // while passing; zero: none
  void reset_open();                                   // resets what is open now, whatever the mode
  std::vector<Connection> connections() const;         // all since the start, oldest first
  Connection total() const;                            // their sum; `open`: any is

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::test
