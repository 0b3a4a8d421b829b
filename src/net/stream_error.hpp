// Why a stream could not be opened, or ended.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>

namespace holdfast::net {

// `detail` is one line for people: what was tried and what went wrong.
struct StreamError {
  enum class Kind : std::uint8_t {
    none,         // it worked
    refused,      // nobody listens there (or the unix socket does not exist)
    unreachable,  // no route, no answer, no right to connect, no descriptor left
    dns,          // the name has no address, or no name server answered
    tls,          // certificate, name or CA is wrong, or the peer does not speak TLS: permanent
    closed,       // a stream ended after it had connected: by the peer, a reset, TCP's own timeout
  };

  Kind kind = Kind::none;
  std::error_code code{};  // of the system, where there is one
  std::string detail{};

  explicit operator bool() const noexcept { return kind != Kind::none; }
};

}  // namespace holdfast::net
