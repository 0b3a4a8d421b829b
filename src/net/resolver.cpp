#include "net/resolver.hpp"

#include "runtime/descriptor.hpp"
#include "runtime/event_loop.hpp"
#include "runtime/made_here.hpp"

#include <ares.h>
#include <sys/time.h>

#include <chrono>
#include <map>
#include <mutex>

namespace holdfast::net {

namespace {

void start_library() {
  static std::once_flag once;  // ares_library_init() is not thread-safe
  std::call_once(once, [] { ares_library_init(ARES_LIB_INIT_ALL); });
}

StreamError dns_error(const std::string& host, int status) {
  StreamError error{.kind = StreamError::Kind::dns, .code = {}, .detail = {}};
  if (status == ARES_ENOTFOUND || status == ARES_ENODATA) {
    error.detail = "the host name \"" + host + "\" has no address";
  } else if (status == ARES_ETIMEOUT || status == ARES_ECONNREFUSED) {
    error.detail = "no name server answered when asked for \"" + host + "\"";
  } else {
    error.detail = "cannot look up the host name \"" + host + "\": " + ares_strerror(status);
  }
  return error;
}

}  // namespace

struct Resolver::State {
  explicit State(EventLoop& its_loop) : loop(its_loop) {}

  // The sockets of c-ares come and go; each is watched as it wishes.
  void watch(ares_socket_t socket, bool read, bool write) {
    if (!read && !write) {
      watched.erase(socket);  // c-ares closes it next
      return;
    }
    std::unique_ptr<Descriptor>& descriptor = watched[socket];
    if (descriptor == nullptr) {
      descriptor = std::make_unique<Descriptor>(loop, socket, Descriptor::Closing::callers);
      descriptor->on_readable([this, socket] { process(socket, ARES_SOCKET_BAD); });
      descriptor->on_writable([this, socket] { process(ARES_SOCKET_BAD, socket); });
    }
    if (read) descriptor->await_readable();
    if (write) descriptor->await_writable();
  }

  void process(ares_socket_t readable, ares_socket_t writable) {
    const ares_socket_t socket = readable != ARES_SOCKET_BAD ? readable : writable;
    ares_process_fd(channel, readable, writable);
    if (const auto found = watched.find(socket); found != watched.end()) {
      found->second->await_readable();
    }
    set_timer();
  }

  void set_timer() {
    loop.cancel(std::exchange(timer, 0));
    timeval wait{};
    if (ares_timeout(channel, nullptr, &wait) == nullptr) return;
    const Instant when =
        loop.now() + std::chrono::seconds{wait.tv_sec} + std::chrono::microseconds{wait.tv_usec};
    timer = loop.call_at(when, [this] {
      timer = 0;
      ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
      set_timer();
    });
  }

  // Called by c-ares, perhaps from inside resolve() or the destructor: hand it to the loop.
  void finish(int status, const ares_addrinfo* found) {
    if (done == nullptr) return;
    if (status == ARES_SUCCESS) {
      for (const ares_addrinfo_node* node = found->nodes; node != nullptr; node = node->ai_next) {
        addresses.emplace_back(node->ai_addr, node->ai_addrlen);
      }
    }
    if (addresses.empty()) error = dns_error(host, status == ARES_SUCCESS ? ARES_ENODATA : status);
    loop.post([weak = std::weak_ptr(alive), this] {
      if (weak.expired()) return;
      const std::unique_ptr<Done> handler = std::move(done);
      const StreamError told = std::move(error);
      const Addresses given = std::move(addresses);
      (*handler)(told, given);  // may destroy this
    });
  }

  using Done = UniqueFunction<void(const StreamError&, const Addresses&)>;

  EventLoop& loop;
  MadeHere made_here{};
  ares_channel channel = nullptr;
  std::map<ares_socket_t, std::unique_ptr<Descriptor>> watched{};
  Runtime::TimerId timer = 0;
  std::string host{};
  std::unique_ptr<Done> done{};
  StreamError error{};
  Addresses addresses{};
  std::shared_ptr<int> alive = std::make_shared<int>(0);
  State* next_abandoned = nullptr;
};

Resolver::Resolver(EventLoop& loop, const std::string& name_servers)
    : state_(std::make_unique<State>(loop)) {
  start_library();
  ares_options options{};
  options.timeout = 700;  // of the first round; it doubles, so two rounds of one server: 2.1 s
  options.tries = 2;
  options.sock_state_cb = [](void* state, ares_socket_t socket, int read, int write) {
    static_cast<State*>(state)->watch(socket, read != 0, write != 0);
  };
  options.sock_state_cb_data = state_.get();
  const int status = ares_init_options(
      &state_->channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);
  if (status != ARES_SUCCESS) {
    state_->channel = nullptr;
    state_->error = dns_error("", status);
  } else if (!name_servers.empty()) {
    ares_set_servers_ports_csv(state_->channel, name_servers.c_str());
  }
}

Resolver::~Resolver() {
  if (!state_->made_here) {
    abandon(std::move(state_));
    return;
  }
  state_->loop.cancel(state_->timer);
  state_->done = nullptr;
  if (state_->channel != nullptr) ares_destroy(state_->channel);
}

void Resolver::resolve(const std::string& host, std::uint16_t port,
                       UniqueFunction<void(const StreamError&, const Addresses&)> done) {
  State& state = *state_;
  state.host = host;
  state.done = std::make_unique<State::Done>(std::move(done));
  if (state.channel == nullptr) return state.finish(ARES_ENOTINITIALIZED, nullptr);
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = ARES_AI_NUMERICSERV;
  ares_getaddrinfo(
      state.channel, host.c_str(), std::to_string(port).c_str(), &hints,
      [](void* raw, int status, int, ares_addrinfo* found) {
        static_cast<State*>(raw)->finish(status, found);
        if (found != nullptr) ares_freeaddrinfo(found);
      },
      &state);
  state.set_timer();
}

}  // namespace holdfast::net
