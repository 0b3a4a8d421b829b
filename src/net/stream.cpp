#include "net/stream.hpp"

#include "net/dialer.hpp"
#include "net/tls_session.hpp"

#include "runtime/descriptor.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/fork_generation.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

namespace holdfast::net {

namespace {

using Want = IoResult::Want;

// recv() and send() in the shape of a TLS session's read() and write().
IoResult plain_result(ssize_t count, Want otherwise, const std::string& place) {
  if (count > 0) return {.want = Want::nothing, .bytes = static_cast<std::size_t>(count)};
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {.want = otherwise};
  StreamError error{.kind = StreamError::Kind::closed, .code = {}, .detail = {}};
  if (count == 0) {
    error.detail = place + " closed the connection";
  } else {
    error.code = std::error_code(errno, std::system_category());
    error.detail = "the connection to " + place + " broke: " + error.code.message();
  }
  return {.want = Want::nothing, .bytes = 0, .error = std::move(error)};
}

// Everything a stream has until it is closed. Handlers are moved to the stack before they are
// called and nothing is touched after that: they may close the stream.
struct Parts {
  Parts(EventLoop& its_loop, Endpoint its_endpoint)
      : loop(its_loop), endpoint(std::move(its_endpoint)), place(endpoint.text()) {}

  // --- connecting

  void start() {
    doing = "connecting to " + place;
    if (!endpoint.unix_path.empty()) {
      if (const auto address = SocketAddress::from_unix_path(endpoint.unix_path)) {
        return dial({*address});
      }
      return fail_soon("the path " + place + " is too long for a unix socket");
    }
    if (const auto address = SocketAddress::from_literal(endpoint.host, endpoint.port)) {
      return dial({*address});
    }
    if (is_ip_literal(endpoint.host)) {
      return fail_soon("this host has no network interface as in " + place);
    }
    doing = "looking up the host name \"" + endpoint.host + "\"";
    resolver = std::make_unique<Resolver>(loop, endpoint.name_servers);
    resolver->resolve(endpoint.host, endpoint.port,
                      [this](const StreamError& error, const Addresses& addresses) {
                        if (error) return finish_connect(error);
                        doing = "connecting to " + place;
                        dial(addresses);
                      });
  }

  void fail_soon(std::string detail) {
    StreamError error{StreamError::Kind::unreachable, {}, std::move(detail)};
    soon([this, told = std::move(error)] { finish_connect(told); });
  }

  void dial(const Addresses& addresses) {
    dialer = std::make_unique<Dialer>(
        loop, addresses, place,
        [this](const StreamError& error, std::unique_ptr<Descriptor> descriptor) {
          if (error) return finish_connect(error);
          socket = std::move(descriptor);
          socket->on_readable([this] { became_readable(); });
          socket->on_writable([this] { became_writable(); });
          if (endpoint.tls == nullptr) return finish_connect({});
          doing = "in the TLS handshake with " + place;
          tls = std::make_unique<TlsSession>(*endpoint.tls, socket->number(), endpoint.host, place);
          step_handshake();
        });
  }

  void step_handshake() {
    const IoResult result = tls->handshake();
    if (result.want == Want::readable) return socket->await_readable();
    if (result.want == Want::writable) return socket->await_writable();
    finish_connect(result.error);
  }

  void finish_connect(const StreamError& error) {
    is_connected = !error;
    if (is_connected) doing.clear();
    UniqueFunction<void(const StreamError&)> handler = std::move(connected);
    const StreamError told = error;
    handler(told);
  }

  // --- connected

  void became_readable() {
    if (!is_connected) return step_handshake();
    if (std::exchange(write_wants_readable, false)) flush();
    if (read_done) step_read();
  }

  void became_writable() {
    if (!is_connected) return step_handshake();
    flush();
    if (std::exchange(read_wants_writable, false) && read_done) step_read();
  }

  void start_read() {
    // Bytes that OpenSSL has taken from the socket already, or an end that is known.
    const bool known = broken || (tls != nullptr && tls->has_pending());
    if (!known) return socket->await_readable();
    soon([this] {
      if (read_done) step_read();
    });
  }

  void step_read() {
    IoResult result =
        ended ? IoResult{.want = Want::nothing, .bytes = 0, .error = broken} : receive();
    if (result.want != Want::nothing) {
      if (broken) return finish_read(broken, 0);
      read_wants_writable = result.want == Want::writable;
      return read_wants_writable ? socket->await_writable() : socket->await_readable();
    }
    if (result.error) {
      ended = true;
      if (!broken) broken = result.error;
    }
    finish_read(result.error, result.bytes);
  }

  void finish_read(const StreamError& error, std::size_t bytes) {
    UniqueFunction<void(const StreamError&, std::size_t)> handler = std::move(read_done);
    const StreamError told = error;
    handler(told, bytes);
  }

  IoResult receive() {
    if (tls != nullptr) return tls->read(buffer);
    return plain_result(::recv(socket->number(), buffer.data(), buffer.size(), 0), Want::readable,
                        place);
  }

  IoResult send(std::string_view bytes) {
    if (tls != nullptr) return tls->write(bytes);
    return plain_result(::send(socket->number(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                        Want::writable, place);
  }

  void write(std::string_view bytes) {
    if (outgoing.empty() && !broken) bytes.remove_prefix(send_some(bytes));
    outgoing.append(bytes);
  }

  void flush() {
    if (outgoing.empty() || broken) return;
    sent += send_some(std::string_view(outgoing).substr(sent));
    if (sent == outgoing.size()) {
      outgoing.clear();
      sent = 0;
    }
  }

  // Sends until the kernel takes no more, and then arranges for flush().
  std::size_t send_some(std::string_view bytes) {
    std::size_t count = 0;
    while (count < bytes.size()) {
      const IoResult result = send(bytes.substr(count));
      count += result.bytes;
      if (result.error) {
        fail_write(result.error);
        break;
      }
      if (result.want == Want::writable) {
        socket->await_writable();
        break;
      }
      if (result.want == Want::readable) {
        write_wants_readable = true;
        socket->await_readable();
        break;
      }
    }
    return count;
  }

  // What arrived before the failure is still read first: it may say why the peer hung up.
  void fail_write(const StreamError& error) {
    broken = error;
    soon([this] {
      if (read_done) step_read();
    });
  }

  std::size_t unsent() const noexcept { return outgoing.size() - sent; }

  template <class Step>
  void soon(Step step) {
    loop.post([weak = std::weak_ptr(alive), step = std::move(step)]() mutable {
      if (!weak.expired()) step();
    });
  }

  EventLoop& loop;
  const Endpoint endpoint;
  const std::string place;
  std::string doing{};
  UniqueFunction<void(const StreamError&)> connected{};
  std::unique_ptr<Resolver> resolver{};
  std::unique_ptr<Dialer> dialer{};
  std::unique_ptr<Descriptor> socket{};
  std::unique_ptr<TlsSession> tls{};
  bool is_connected = false;
  bool read_wants_writable = false;   // TLS may have to answer before it can read on
  bool write_wants_readable = false;  // ... and the other way round
  bool ended = false;                 // nothing more can be read
  StreamError broken{};               // why it ended, or why nothing more can be written
  std::span<char> buffer{};
  UniqueFunction<void(const StreamError&, std::size_t)> read_done{};
  std::string outgoing{};  // what the kernel has not taken, after the first `sent` bytes
  std::size_t sent = 0;
  std::shared_ptr<int> alive = std::make_shared<int>(0);
  MadeHere made_here{};
  Parts* next_abandoned = nullptr;
};

class SocketStream final : public Stream {
 public:
  SocketStream(EventLoop& loop, Endpoint endpoint)
      : parts_(std::make_unique<Parts>(loop, std::move(endpoint))) {}
  ~SocketStream() override { SocketStream::close(); }

  void connect(UniqueFunction<void(const StreamError&)> done) override {
    if (parts_ == nullptr) return;
    parts_->connected = std::move(done);
    parts_->start();
  }

  void read_some(std::span<char> buffer,
                 UniqueFunction<void(const StreamError&, std::size_t)> done) override {
    if (parts_ == nullptr) return;
    parts_->buffer = buffer;
    parts_->read_done = std::move(done);
    parts_->start_read();
  }

  void write(std::string_view bytes) override {
    if (parts_ != nullptr) parts_->write(bytes);
  }

  std::size_t unsent() const noexcept override {
    return parts_ == nullptr ? unsent_at_close_ : parts_->unsent();
  }

  std::string doing() const override { return parts_ == nullptr ? std::string{} : parts_->doing; }

  void close() noexcept override {
    if (parts_ == nullptr) return;
    unsent_at_close_ = parts_->unsent();
    std::unique_ptr<Parts> ended = std::move(parts_);
    if (!ended->made_here) abandon(std::move(ended));
  }

 private:
  std::unique_ptr<Parts> parts_;
  std::size_t unsent_at_close_ = 0;
};

}  // namespace

std::string Endpoint::text() const {
  if (!unix_path.empty()) return unix_path;
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::unique_ptr<Stream> make_stream(EventLoop& loop, Endpoint endpoint) {
  return std::make_unique<SocketStream>(loop, std::move(endpoint));
}

}  // namespace holdfast::net
