#include "tests/support/net_client.hpp"

#include "net/socket_address.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace holdfast::test {

namespace {

int bound_socket(int type, const std::string& address, std::uint16_t& port) {
  const auto wanted = net::SocketAddress::from_literal(address, port);
  if (!wanted) throw std::invalid_argument(address);
  const int socket = ::socket(wanted->family(), type | SOCK_CLOEXEC, 0);
  sockaddr_in6 actual{};
  socklen_t size = sizeof actual;
  if (bind(socket, wanted->data(), wanted->size()) != 0 ||
      getsockname(socket, reinterpret_cast<sockaddr*>(&actual), &size) != 0) {
    throw std::system_error(errno, std::system_category(), "bind " + address);
  }
  port = ntohs(actual.sin6_port);  // at the same place in sockaddr_in
  return socket;
}

}  // namespace

NetClient::NetClient(EventLoop& loop, net::Endpoint endpoint)
    : loop_(loop), stream_(net::make_stream(loop, std::move(endpoint))) {}

net::StreamError NetClient::connect() {
  return connect_within(std::chrono::seconds{20})
      .value_or(
          net::StreamError{net::StreamError::Kind::unreachable, {}, "still " + stream_->doing()});
}

std::optional<net::StreamError> NetClient::connect_within(Duration patience) {
  std::optional<net::StreamError> result;
  bool late = false;
  stream_->connect([&](const net::StreamError& error) { result = error; });
  const Runtime::TimerId timer = loop_.call_at(loop_.now() + patience, [&] { late = true; });
  loop_.run_until([&] { return result || late; });
  loop_.cancel(timer);
  return result;
}

std::string NetClient::ask(std::string_view request) {
  stream_->write(request);
  return read_line();
}

std::string NetClient::read_line() {
  for (;;) {
    if (const std::size_t end = received_.find("\r\n"); end != std::string::npos) {
      std::string line = received_.substr(0, end + 2);
      received_.erase(0, end + 2);
      return line;
    }
    if (const net::StreamError error = read_once()) return error.detail;
  }
}

net::StreamError NetClient::read_error() {
  for (;;) {
    if (net::StreamError error = read_once()) return error;
  }
}

net::StreamError NetClient::read_once() {
  std::optional<net::StreamError> result;
  stream_->read_some(buffer_, [&](const net::StreamError& error, std::size_t count) {
    received_.append(buffer_.data(), count);
    result = error;
  });
  loop_.run_until([&] { return result.has_value(); });
  return *result;
}

DeafListener::DeafListener(const std::string& address, std::uint16_t port) : port_(port) {
  listener_ = bound_socket(SOCK_STREAM, address, port_);
  listen(listener_, 0);
  const auto self = net::SocketAddress::from_literal(address, port_);
  for (int& filler : fillers_) {
    filler = ::socket(self->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ::connect(filler, self->data(), self->size());
  }
}

DeafListener::~DeafListener() {
  for (const int filler : fillers_) close(filler);
  close(listener_);
}

SilentPeer::SilentPeer(Protocol protocol) {
  const bool tcp = protocol == Protocol::tcp;
  socket_ = bound_socket(tcp ? SOCK_STREAM : SOCK_DGRAM, "127.0.0.1", port_);
  if (tcp) listen(socket_, 16);
}

SilentPeer::~SilentPeer() {
  if (answered_ >= 0) close(answered_);
  close(socket_);
}

void SilentPeer::answer(std::string_view bytes) {
  answered_ = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (send(answered_, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) {
    throw std::system_error(errno, std::system_category(), "send");
  }
}

}  // namespace holdfast::test
