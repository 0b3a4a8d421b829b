// One TLS connection over a non-blocking socket. Does not wait: each call does what can be done
// now and says what to wait for.
#pragma once

#include "net/stream_error.hpp"
#include "net/tls_client.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::net {

// What a non-blocking read, write or handshake came to.
struct IoResult {
  enum class Want : std::uint8_t {
    nothing,   // done: `bytes` of them, or `error`
    readable,  // call again with the same arguments when the socket can be read
    writable,  // ... can be written
  };
  Want want = Want::nothing;
  std::size_t bytes = 0;
  StreamError error{};
};

class TlsSession {
 public:
  // `host` is what the URL says; the client's options may give another name to verify and to send.
  // `place` is for messages. What is wrong with the files that `client` names is told by the first
  // handshake().
  TlsSession(const TlsClient& client, int socket, const std::string& host, std::string place);
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;
  ~TlsSession();  // tells the peer, if it can at once

  IoResult handshake();  // `bytes` stays 0
  IoResult read(std::span<char> buffer);
  IoResult write(std::string_view bytes);

  // Looks at what has arrived: true if the peer has said goodbye or the session broke. What it
  // takes from the socket stays to be read.
  bool has_ended() noexcept;

  // Whether bytes have arrived that the socket no longer shows as readable.
  bool has_pending() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::net
