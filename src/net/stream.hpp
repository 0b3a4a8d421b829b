// A connected byte stream on one EventLoop: TCP, TLS over TCP, or a unix socket. Knows no protocol
// and no deadline: whoever uses it keeps a timer and calls close().
//
//   auto stream = net::make_stream(loop, {.host = "db1", .port = 6379});
//   stream->connect([&](const net::StreamError& error) {
//     if (error) return fail(error);
//     stream->write("PING\r\n");
//     stream->read_some(buffer, [&](const net::StreamError& e, std::size_t n) { ... });
//   });
#pragma once

#include "net/stream_error.hpp"
#include "net/tls_client.hpp"

#include <holdfast/function.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace holdfast {
class EventLoop;
}

namespace holdfast::net {

// Where to connect. `unix_path` non-empty: that socket, and host and port do not count.
struct Endpoint {
  std::string host{};  // a name or an IP literal without brackets: db1, 127.0.0.1, fe80::1%lo
  std::uint16_t port = 0;
  std::string unix_path{};
  std::shared_ptr<const TlsClient> tls{};  // null: plain
  std::string name_servers{};              // "host:port,…"; empty: those of /etc/resolv.conf

  std::string text() const;  // for people: "db1:6379", "[::1]:6379", "/run/redis.sock"
};

// Handlers are called on the loop, at most once, never from inside the call that took them. A
// handler may close or destroy the stream.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;  // close()

  // Resolves, connects (all addresses of a name; a silent one does not hold up the next) and, with
  // TLS, shakes hands and verifies. Once a stream, before anything else. Unbounded in time.
  virtual void connect(UniqueFunction<void(const StreamError&)> done) = 0;

  // Reads what there is, at least one byte, into `buffer`, which must live until `done` was called
  // or the stream is closed. One at a time. An end of stream is Kind::closed.
  virtual void read_some(std::span<char> buffer,
                         UniqueFunction<void(const StreamError&, std::size_t)> done) = 0;

  // Hands `bytes` to the kernel at once as far as it takes them; keeps a copy of the rest and sends
  // it as soon as it can. Only after connect() succeeded. A failure is told by the pending or the
  // next read_some(), so keep one pending.
  virtual void write(std::string_view bytes) = 0;

  // How much of all that was written the kernel has not taken yet. What it took may have been
  // executed by the peer even if the stream fails afterwards.
  virtual std::size_t unsent() const noexcept = 0;

  // True if the peer has closed or reset the connection although no read_some() has told yet. One
  // system call: for whoever is about to use a connection that lay idle.
  virtual bool peer_is_gone() const noexcept = 0;

  // What connect() is busy with, for the message of whoever gives up: "connecting to db1:6379",
  // "in the TLS handshake with db1:6379". Empty once connected.
  virtual std::string doing() const = 0;

  // Ends it now. Pending handlers are destroyed uncalled; what the kernel took is still delivered,
  // what it did not take is dropped. Idempotent.
  virtual void close() noexcept = 0;
};

std::unique_ptr<Stream> make_stream(EventLoop& loop, Endpoint endpoint);

}  // namespace holdfast::net
