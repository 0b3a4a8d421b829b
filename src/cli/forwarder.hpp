// A TCP forwarder in a process of its own, for demos that move clients from one server to another.
#pragma once

#include "cli/actor.hpp"

#include <cstdint>

namespace holdfast::cli {

// Closed (below zero) if nobody listens there.
Descriptor connect_to_loopback(std::uint16_t port);
// On a port that was free, which it tells.
Descriptor listen_on_loopback(std::uint16_t& port);

class Forwarder {
 public:
  // Listens on 127.0.0.1 and hands on to `port` there. Precondition: one thread.
  explicit Forwarder(std::uint16_t port);
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  std::uint16_t port() const noexcept { return port_; }

  // Resets every open connection; those that are made from now on lead to `port`.
  void switch_to(std::uint16_t port);

 private:
  std::uint16_t port_ = 0;
  Actor actor_{};
};

}  // namespace holdfast::cli
