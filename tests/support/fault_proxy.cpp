#include "tests/support/fault_proxy.hpp"

#include "tests/support/proxy_link.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>

namespace holdfast::test {

namespace {

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::system_category(), what);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Listens on `port` of the loopback (0: any) and says which it is.
int listen_on(std::uint16_t& port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address = loopback(port);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (bind(socket, raw, size) != 0 || listen(socket, 128) != 0 ||
      getsockname(socket, raw, &size) != 0) {
    throw_errno("FaultProxy cannot listen");
  }
  port = ntohs(address.sin_port);
  return socket;
}

}  // namespace

struct FaultProxy::State {
  using Mode = FaultProxy::Mode;

  State(const sockaddr* server, socklen_t size) : server_size(size) {
    std::memcpy(&server_address, server, size);
    listener = listen_on(port);
    wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    thread = std::thread([this] { run(); });
  }

  ~State() {
    command([this] { stopping = true; });
    thread.join();
    for (const auto& link : links) link->close();
    if (listener >= 0) ::close(listener);
    ::close(wake);
  }

  // Runs `change` on the proxy's thread and waits for it, so that no byte is treated the old way
  // once the caller goes on.
  void command(const std::function<void()>& change) {
    std::unique_lock lock(mutex);
    pending = &change;
    const std::uint64_t one = 1;
    static_cast<void>(::write(wake, &one, sizeof one));
    changed.wait(lock, [this] { return pending == nullptr; });
  }

  void run() {
    while (!stopping) {
      wait();
      std::uint64_t ignored = 0;
      static_cast<void>(::read(wake, &ignored, sizeof ignored));
      {
        const std::lock_guard lock(mutex);
        if (pending != nullptr) {
          (*pending)();
          pending = nullptr;
          changed.notify_all();
        }
      }
      accept_all();
      for (const auto& link : links) link->step(ways());
    }
  }

  ProxyLink::Ways ways() const {
    return {.requests = mode != Mode::blackhole,
            .replies = mode != Mode::blackhole,
            .swallow = mode == Mode::swallow_replies,
            .delay = delay};
  }

  void wait() {
    std::vector<pollfd> polled = {{wake, POLLIN, 0}};
    if (listener >= 0) polled.push_back({listener, POLLIN, 0});
    auto patience = std::chrono::milliseconds{-1};
    for (const auto& link : links) link->add_to(polled, patience, ways());
    poll(polled.data(), polled.size(), static_cast<int>(patience.count()));
  }

  void accept_all() {
    while (listener >= 0) {
      const int client = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (client < 0) return;
      const std::lock_guard lock(counts_mutex);
      counts.emplace_back(std::make_unique<ProxyCounts>());
      links.push_back(std::make_unique<ProxyLink>(client, *counts.back()));
      if (mode == Mode::reset) {
        links.back()->reset();
        continue;
      }
      links.back()->connect(reinterpret_cast<const sockaddr*>(&server_address), server_size);
    }
  }

  void apply(Mode wanted) {
    mode = wanted;
    if (mode == Mode::reset) reset_open();
    if (mode == Mode::refuse && listener >= 0) {
      ::close(listener);
      listener = -1;
    } else if (mode != Mode::refuse && listener < 0) {
      listener = listen_on(port);
    }
  }

  void reset_open() {
    accept_all();  // those that wait in the queue are open to their clients
    for (const auto& link : links) link->reset();
  }

  sockaddr_storage server_address{};
  socklen_t server_size;
  std::uint16_t port = 0;
  int listener = -1;
  int wake = -1;
  Mode mode = Mode::pass;
  std::chrono::milliseconds delay{0};
  bool stopping = false;

  std::mutex mutex{};
  std::condition_variable changed{};
  const std::function<void()>* pending = nullptr;

  std::mutex counts_mutex{};
  std::vector<std::unique_ptr<ProxyCounts>> counts{};

  std::vector<std::unique_ptr<ProxyLink>> links{};  // they write to `counts` when they go
  std::thread thread{};
};

FaultProxy::FaultProxy(std::uint16_t port, const std::string& host) {
  sockaddr_in v4 = loopback(port);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    state_ = std::make_unique<State>(reinterpret_cast<const sockaddr*>(&v6), sizeof v6);
    return;
  }
  inet_pton(AF_INET, host.c_str(), &v4.sin_addr);
  state_ = std::make_unique<State>(reinterpret_cast<const sockaddr*>(&v4), sizeof v4);
}

FaultProxy::FaultProxy(const std::string& unix_path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
  state_ = std::make_unique<State>(reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

FaultProxy::~FaultProxy() = default;

std::uint16_t FaultProxy::port() const noexcept { return state_->port; }

void FaultProxy::set(Mode mode) {
  state_->command([this, mode] { state_->apply(mode); });
}

void FaultProxy::delay_replies(std::chrono::milliseconds time) {
  state_->command([this, time] { state_->delay = time; });
}

void FaultProxy::reset_open() {
  state_->command([this] { state_->reset_open(); });
}

std::vector<FaultProxy::Connection> FaultProxy::connections() const {
  const std::lock_guard lock(state_->counts_mutex);
  std::vector<Connection> result;
  for (const auto& count : state_->counts) {
    result.push_back({count->to_server, count->to_client, count->swallowed, count->open});
  }
  return result;
}

FaultProxy::Connection FaultProxy::total() const {
  Connection sum{.open = false};
  for (const Connection& each : connections()) {
    sum.to_server += each.to_server;
    sum.to_client += each.to_client;
    sum.swallowed += each.swallowed;
    sum.open = sum.open || each.open;
  }
  return sum;
}

}  // namespace holdfast::test
