#include "cli/supervisor_link.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <sys/socket.h>

namespace holdfast::cli {

namespace {

// Both ends are the same binary, so the layout in memory is the layout on the wire.
struct OrderHead {
  Order::Type type;
  std::int32_t signal;
  std::int64_t term_at;
  std::int64_t kill_at;
};

std::int64_t to_count(Instant instant) noexcept { return instant.time_since_epoch().count(); }

Instant to_instant(std::int64_t count) noexcept { return Instant{Duration{count}}; }

template <class Head>
std::string bytes_of(const Head& head) {
  return {reinterpret_cast<const char*>(&head), sizeof head};
}

template <class Head>
std::optional<Head> head_of(const std::optional<std::string>& bytes) noexcept {
  if (!bytes || bytes->size() < sizeof(Head)) {
    return std::nullopt;
  }
  Head head{};
  std::memcpy(&head, bytes->data(), sizeof head);
  return head;
}

}  // namespace

std::pair<SupervisorLink, SupervisorLink> SupervisorLink::make_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  return {SupervisorLink{ends[0]}, SupervisorLink{ends[1]}};
}

bool SupervisorLink::send(const Order& order) noexcept {
  std::string bytes = bytes_of(OrderHead{order.type, order.signal, to_count(order.deadline.term_at),
                                         to_count(order.deadline.kill_at)});
  for (const std::string& variable : order.environment) {
    bytes.append(variable).push_back('\0');
  }
  return send_bytes(bytes);
}

bool SupervisorLink::send(Report report) noexcept { return send_bytes(bytes_of(report)); }

std::optional<Order> SupervisorLink::receive_order() {
  const auto bytes = receive_bytes();
  const auto head = head_of<OrderHead>(bytes);
  if (!head) {
    return std::nullopt;
  }
  Order order{head->type, {to_instant(head->term_at), to_instant(head->kill_at)}, head->signal, {}};
  for (std::size_t begin = sizeof(OrderHead); begin < bytes->size();) {
    const std::size_t end = bytes->find('\0', begin);
    order.environment.push_back(bytes->substr(begin, end - begin));
    begin = end + 1;
  }
  return order;
}

std::optional<Report> SupervisorLink::receive_report() { return head_of<Report>(receive_bytes()); }

bool SupervisorLink::send_bytes(const std::string& bytes) noexcept {
  for (;;) {
    if (::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0) {
      return true;
    }
    if (errno != EINTR) {
      return false;
    }
  }
}

std::optional<std::string> SupervisorLink::receive_bytes() {
  // The environment is what grows: a name, an owner and a store URL. 64 KiB holds any of them.
  std::string bytes(65536, '\0');
  for (;;) {
    const ssize_t count = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (count > 0) {
      bytes.resize(static_cast<std::size_t>(count));
      return bytes;
    }
    // ECONNRESET: the other end left before it read all of ours. Linux says so once, ahead of what
    // it had sent before; a report must not get lost because an order crossed it.
    if (count < 0 && (errno == EINTR || errno == ECONNRESET)) {
      continue;
    }
    closed_ = count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    return std::nullopt;
  }
}

}  // namespace holdfast::cli
