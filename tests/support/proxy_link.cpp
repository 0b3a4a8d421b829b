#include "tests/support/proxy_link.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace holdfast::test {

namespace {

void send_at_once(int socket) {
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void make_close_reset(int socket) {
  const linger abort{1, 0};
  setsockopt(socket, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
}

}  // namespace

ProxyLink::ProxyLink(int client, ProxyCounts& counts) : client_(client), counts_(counts) {
  send_at_once(client_);
}

void ProxyLink::connect(const sockaddr* server, socklen_t size) {
  // Blocking: on the loopback the kernel answers at once, even for a stopped server.
  server_ = ::socket(server->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(server_, server, size) != 0) return reset();
  send_at_once(server_);
}

void ProxyLink::add_to(std::vector<pollfd>& polled, std::chrono::milliseconds& patience,
                       Ways ways) const {
  // A side with nothing to wait for is not polled at all: poll() reports a hang-up even unasked.
  const auto wants = [](bool in_flows, const Way& in, bool out_flows, const Way& out) {
    const bool due = !out.chunks.empty() && out.chunks.front().due <= Clock::now();
    short events = 0;
    if (in_flows && !in.ended) events |= POLLIN;
    if (out_flows && due) events |= POLLOUT;
    return events;
  };
  if (server_ < 0) return;
  const short client = wants(ways.requests, up_, ways.replies, down_);
  const short server = wants(ways.replies, down_, ways.requests, up_);
  if (client != 0) polled.push_back({client_, client, 0});
  if (server != 0) polled.push_back({server_, server, 0});
  if (down_.chunks.empty() || !ways.replies) return;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(down_.chunks.front().due - Clock::now());
  if (left.count() > 0 && (patience.count() < 0 || left < patience)) patience = left;
}

void ProxyLink::step(Ways ways) {
  if (server_ < 0) return;
  bool alive = true;
  if (ways.requests) {
    alive = receive(client_, up_, false, {}) && send(server_, up_, counts_.to_server);
  }
  if (alive && ways.replies) {
    alive = receive(server_, down_, ways.swallow, ways.delay) &&
            send(client_, down_, counts_.to_client);
  }
  if (!alive) return reset();
  if (up_.shut_down && down_.shut_down) close();
}

bool ProxyLink::receive(int from, Way& way, bool swallow, std::chrono::milliseconds delay) {
  std::array<char, 65536> buffer{};
  while (!way.ended) {
    const ssize_t count = ::recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    const auto size = static_cast<std::size_t>(count);
    if (count == 0) {
      way.ended = true;
    } else if (swallow) {
      counts_.swallowed += size;
    } else {
      way.chunks.push_back({std::string(buffer.data(), size), Clock::now() + delay});
    }
  }
  return true;
}

bool ProxyLink::send(int to, Way& way, std::atomic<std::uint64_t>& count) {
  while (!way.chunks.empty() && way.chunks.front().due <= Clock::now()) {
    std::string& bytes = way.chunks.front().bytes;
    // Counted first: who has received a byte must find it counted.
    count += bytes.size();
    const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    count -= bytes.size() - static_cast<std::uint64_t>(std::max<ssize_t>(sent, 0));
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    bytes.erase(0, static_cast<std::size_t>(sent));
    if (!bytes.empty()) return true;
    way.chunks.pop_front();
  }
  if (way.ended && way.chunks.empty() && !way.shut_down) {
    ::shutdown(to, SHUT_WR);
    way.shut_down = true;
  }
  return true;
}

void ProxyLink::reset() {
  if (client_ >= 0) make_close_reset(client_);
  if (server_ >= 0) make_close_reset(server_);
  close();
}

void ProxyLink::close() {
  for (int* const socket : {&client_, &server_}) {
    if (*socket >= 0) ::close(std::exchange(*socket, -1));
  }
  counts_.open = false;
}

}  // namespace holdfast::test
