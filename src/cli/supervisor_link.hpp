// The pipe between the wrapper and its supervisor: small messages, each whole or not at all.
#pragma once

#include "cli/descriptor.hpp"
#include "core/child_machine.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::cli {

struct Order {
  enum class Type : std::uint8_t { start, extend, forward, lose };
  Type type = Type::start;
  ChildDeadline deadline{};                // start, extend
  int signal = 0;                          // forward
  std::vector<std::string> environment{};  // start: NAME=VALUE, added to the command's own
};

struct Report {
  enum class Type : std::uint8_t {
    started,  // value: the command's pid
    refused,  // value: errno
    late,     // the deadline passed before the start
    lost,     // the tree is being stopped because of the lease
    exited,   // value: wait status of the main process
    gone,     // no descendant is left
  };
  Type type = Type::gone;
  int value = 0;
};

// One end. Descriptors are close-on-exec. Not thread-safe.
class SupervisorLink {
 public:
  static std::pair<SupervisorLink, SupervisorLink> make_pair();  // throws std::system_error

  // False if the other end is closed or its buffer is full.
  bool send(const Order& order) noexcept;
  bool send(Report report) noexcept;

  // What has arrived; nullopt: nothing now, or closed() from now on.
  std::optional<Order> receive_order();
  std::optional<Report> receive_report();

  bool closed() const noexcept { return closed_; }
  int descriptor() const noexcept { return socket_.get(); }
  void close() noexcept { socket_.reset(); }

 private:
  explicit SupervisorLink(int socket) noexcept : socket_(socket) {}
  bool send_bytes(const std::string& bytes) noexcept;
  std::optional<std::string> receive_bytes();

  Descriptor socket_;
  bool closed_ = false;
};

}  // namespace holdfast::cli
