#include "net/connection.hpp"

#include "runtime/descriptor.hpp"
#include "runtime/event_loop.hpp"

#include <sys/socket.h>

#include <cerrno>
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

}  // namespace

Connection::Connection(EventLoop& loop, Endpoint endpoint)
    : loop_(loop), endpoint_(std::move(endpoint)), place_(endpoint_.text()) {}

template <class Step>
void Connection::soon(Step step) {
  loop_.post([weak = std::weak_ptr(alive_), step = std::move(step)]() mutable {
    if (!weak.expired()) step();
  });
}

void Connection::connect(ConnectDone done) {
  connected_ = std::move(done);
  doing_ = "connecting to " + place_;
  if (!endpoint_.unix_path.empty()) {
    if (const auto address = SocketAddress::from_unix_path(endpoint_.unix_path)) {
      return dial({*address});
    }
    return fail_soon("the path " + place_ + " is too long for a unix socket");
  }
  if (const auto address = SocketAddress::from_literal(endpoint_.host, endpoint_.port)) {
    return dial({*address});
  }
  if (is_ip_literal(endpoint_.host)) {
    return fail_soon("this host has no network interface as in " + place_);
  }
  look_up();
}

void Connection::look_up() {
  doing_ = "looking up the host name \"" + endpoint_.host + "\"";
  resolver_ = std::make_unique<Resolver>(loop_, endpoint_.name_servers);
  resolver_->resolve(endpoint_.host, endpoint_.port,
                     [this](const StreamError& error, const Addresses& addresses) {
                       if (error) return finish_connect(error);
                       doing_ = "connecting to " + place_;
                       dial(addresses);
                     });
}

void Connection::fail_soon(std::string detail) {
  StreamError error{StreamError::Kind::unreachable, {}, std::move(detail)};
  soon([this, told = std::move(error)] { finish_connect(told); });
}

void Connection::dial(const Addresses& addresses) {
  dialer_ = std::make_unique<Dialer>(
      loop_, addresses, place_,
      [this](const StreamError& error, std::unique_ptr<Descriptor> descriptor) {
        if (error) return finish_connect(error);
        take(std::move(descriptor));
      });
}

void Connection::take(std::unique_ptr<Descriptor> descriptor) {
  socket_ = std::move(descriptor);
  socket_->on_readable([this] { became_readable(); });
  socket_->on_writable([this] { became_writable(); });
  if (endpoint_.tls == nullptr) return finish_connect({});
  doing_ = "in the TLS handshake with " + place_;
  tls_ = std::make_unique<TlsSession>(*endpoint_.tls, socket_->number(), endpoint_.host, place_);
  step_handshake();
}

void Connection::step_handshake() {
  const IoResult result = tls_->handshake();
  if (result.want == Want::readable) return socket_->await_readable();
  if (result.want == Want::writable) return socket_->await_writable();
  finish_connect(result.error);
}

void Connection::finish_connect(const StreamError& error) {
  is_connected_ = !error;
  if (is_connected_) doing_.clear();
  ConnectDone handler = std::move(connected_);
  const StreamError told = error;
  handler(told);
}

void Connection::became_readable() {
  if (!is_connected_) return step_handshake();
  if (std::exchange(write_wants_readable_, false)) flush();
  if (read_done_) step_read();
}

void Connection::became_writable() {
  if (!is_connected_) return step_handshake();
  flush();
  if (std::exchange(read_wants_writable_, false) && read_done_) step_read();
}

void Connection::read_some(std::span<char> buffer, ReadDone done) {
  buffer_ = buffer;
  read_done_ = std::move(done);
  // Bytes that OpenSSL has taken from the socket already, or an end that is known.
  const bool known = broken_ || (tls_ != nullptr && tls_->has_pending());
  if (!known) return socket_->await_readable();
  soon([this] {
    if (read_done_) step_read();
  });
}

void Connection::step_read() {
  IoResult result =
      ended_ ? IoResult{.want = Want::nothing, .bytes = 0, .error = broken_} : receive();
  if (result.want != Want::nothing) {
    if (broken_) return finish_read(broken_, 0);
    read_wants_writable_ = result.want == Want::writable;
    return read_wants_writable_ ? socket_->await_writable() : socket_->await_readable();
  }
  if (result.error) {
    ended_ = true;
    if (!broken_) broken_ = result.error;
  }
  finish_read(result.error, result.bytes);
}

void Connection::finish_read(const StreamError& error, std::size_t bytes) {
  ReadDone handler = std::move(read_done_);
  const StreamError told = error;
  handler(told, bytes);
}

bool Connection::peer_is_gone() const noexcept {
  if (!socket_ || ended_ || broken_) return true;
  char byte = 0;
  const ssize_t got = ::recv(socket_->number(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return tls_ != nullptr && tls_->has_ended();  // a goodbye is something to read
  return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

IoResult Connection::receive() {
  if (tls_ != nullptr) return tls_->read(buffer_);
  return plain_result(::recv(socket_->number(), buffer_.data(), buffer_.size(), 0), Want::readable,
                      place_);
}

IoResult Connection::send(std::string_view bytes) {
  if (tls_ != nullptr) return tls_->write(bytes);
  return plain_result(::send(socket_->number(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                      Want::writable, place_);
}

void Connection::write(std::string_view bytes) {
  if (outgoing_.empty() && !broken_) bytes.remove_prefix(send_some(bytes));
  outgoing_.append(bytes);
}

void Connection::flush() {
  if (outgoing_.empty() || broken_) return;
  sent_ += send_some(std::string_view(outgoing_).substr(sent_));
  if (sent_ == outgoing_.size()) {
    outgoing_.clear();
    sent_ = 0;
  }
}

// Sends until the kernel takes no more, and then arranges for flush().
std::size_t Connection::send_some(std::string_view bytes) {
  std::size_t count = 0;
  while (count < bytes.size()) {
    const IoResult result = send(bytes.substr(count));
    count += result.bytes;
    if (result.error) {
      fail_write(result.error);
      break;
    }
    if (result.want == Want::writable) {
      socket_->await_writable();
      break;
    }
    if (result.want == Want::readable) {
      write_wants_readable_ = true;
      socket_->await_readable();
      break;
    }
  }
  return count;
}

// What arrived before the failure is still read first: it may say why the peer hung up.
void Connection::fail_write(const StreamError& error) {
  broken_ = error;
  soon([this] {
    if (read_done_) step_read();
  });
}

}  // namespace holdfast::net
