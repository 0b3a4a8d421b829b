// Looks up host names without ever blocking the loop: /etc/hosts, then DNS, by c-ares. A stuck
// getaddrinfo() could not be cancelled; this can, by destroying it. Other sources of nsswitch.conf
// (mDNS, LDAP) are not asked.
#pragma once

#include "net/socket_address.hpp"
#include "net/stream_error.hpp"

#include <holdfast/function.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace holdfast {
class EventLoop;
}

namespace holdfast::net {

using Addresses = std::vector<SocketAddress>;

class Resolver {
 public:
  // `name_servers`: "host:port,…" instead of those of /etc/resolv.conf; empty: those.
  Resolver(EventLoop& loop, const std::string& name_servers);
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver();  // `done` is destroyed uncalled

  // One lookup a resolver. `done` is called once on the loop, never from inside this call, with the
  // addresses best first, or Kind::dns. A name server that stays silent is given up after about
  // three seconds.
  void resolve(const std::string& host, std::uint16_t port,
               UniqueFunction<void(const StreamError&, const Addresses&)> done);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::net
