#include "net/dialer.hpp"

#include "runtime/event_loop.hpp"
#include "runtime/made_here.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <list>

namespace holdfast::net {

namespace {

constexpr std::chrono::milliseconds patience{250};

StreamError connect_error(const std::string& place, int number) {
  const std::error_code code(number, std::system_category());
  const bool refused = number == ECONNREFUSED || number == ENOENT;
  return {.kind = refused ? StreamError::Kind::refused : StreamError::Kind::unreachable,
          .code = code,
          .detail = "cannot connect to " + place + ": " + code.message()};
}

void set_option(int socket, int level, int name, int value) noexcept {
  // Each one only improves something; a kernel that refuses it is no reason to fail.
  setsockopt(socket, level, name, &value, sizeof value);
}

// Users keep their own, shorter deadlines. These end a stream whose peer is gone while nobody asks
// anything of it: after 10 s + 3 * 3 s of silence, or 10 s without an acknowledgement.
void set_tcp_options(int socket) noexcept {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 3);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 10'000);
}

// A socket that is connecting; or a negative errno.
int start_connecting(const SocketAddress& address) noexcept {
  const int socket = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket < 0) return -errno;
  if (address.family() != AF_UNIX) set_tcp_options(socket);
  if (::connect(socket, address.data(), address.size()) == 0 || errno == EINPROGRESS) {
    return socket;
  }
  const int failure = errno;
  ::close(socket);
  return -failure;
}

}  // namespace

struct Dialer::State {
  State(EventLoop& its_loop, Addresses its_addresses, std::string its_place, Done its_done)
      : loop(its_loop),
        addresses(std::move(its_addresses)),
        place(std::move(its_place)),
        done(std::move(its_done)) {}
  ~State() { loop.cancel(timer); }

  // Starts the next try; the end when there is none left.
  void next() {
    loop.cancel(std::exchange(timer, 0));
    while (tried < addresses.size()) {
      if (!add_try(addresses[tried++])) continue;
      if (tried < addresses.size()) timer = loop.call_at(loop.now() + patience, [this] { next(); });
      return;
    }
    if (tries.empty()) finish(nullptr);
  }

  bool add_try(const SocketAddress& address) {
    const int socket = start_connecting(address);
    if (socket < 0) {
      error = connect_error(place, -socket);
      return false;
    }
    try {
      const auto position = tries.insert(
          tries.end(), std::make_unique<Descriptor>(loop, socket, Descriptor::Closing::ours));
      (*position)->on_writable([this, position] { settle(position); });
      (*position)->await_writable();
      return true;
    } catch (const std::system_error& refusal) {  // the epoll set is full
      ::close(socket);
      error = connect_error(place, refusal.code().value());
      return false;
    }
  }

  using Tries = std::list<std::unique_ptr<Descriptor>>;

  void settle(Tries::iterator position) {
    int failure = 0;
    socklen_t size = sizeof failure;
    getsockopt((*position)->number(), SOL_SOCKET, SO_ERROR, &failure, &size);
    std::unique_ptr<Descriptor> settled = std::move(*position);
    tries.erase(position);
    if (failure == 0) return finish(std::move(settled));
    error = connect_error(place, failure);
    next();
  }

  // Posted: this runs inside a callback of the descriptor, whose callbacks the user replaces.
  void finish(std::unique_ptr<Descriptor> descriptor) {
    loop.cancel(std::exchange(timer, 0));
    tries.clear();
    loop.post([this, weak = std::weak_ptr(alive), winner = std::move(descriptor)]() mutable {
      if (weak.expired()) return;
      Done handler = std::move(done);
      const StreamError told = winner == nullptr ? std::move(error) : StreamError{};
      handler(told, std::move(winner));  // may destroy this
    });
  }

  EventLoop& loop;
  const Addresses addresses;
  const std::string place;
  Done done;
  std::size_t tried = 0;
  Tries tries{};
  Runtime::TimerId timer = 0;
  StreamError error{};
  std::shared_ptr<int> alive = std::make_shared<int>(0);
  MadeHere made_here{};
  State* next_abandoned = nullptr;
};

Dialer::Dialer(EventLoop& loop, Addresses addresses, std::string place, Done done)
    : state_(
          std::make_unique<State>(loop, std::move(addresses), std::move(place), std::move(done))) {
  state_->next();
}

Dialer::~Dialer() {
  if (!state_->made_here) abandon(std::move(state_));
}

}  // namespace holdfast::net
