// holdfast/client.hpp: one Client per process and store. Thread-safe.
//
//   holdfast::Client client{"redis://127.0.0.1:6379"};
//   holdfast::Mutex mutex{client, "payout"};
//   auto lease = mutex.acquire({.timeout = 5s});
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>
#include <holdfast/store.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

namespace detail {
class ClientCore;
}

struct ClientOptions {
  // Beats HOLDFAST_PASSWORD, HOLDFAST_PASSWORD_FILE and password_file= in the URL.
  std::string password{};
  // Shown to people beside the lease; unset: the host's name.
  std::string host{};
  // Must outlive the client. Called as holdfast/observer.hpp says.
  Observer* observer = nullptr;
};

// Owns one background thread (the loop), a pool of lanes for blocking calls, and notifier threads.
// Objects made from it (Mutex, Lease) stay safe to use after it is closed: errc::closed.
class Client {
 public:
  // One URL names the store: memory:NAME, sqlite:///path, redis://[user@]host:port/db, rediss://,
  // redis+unix:///path; see docs/reference/url.md. Empty: HOLDFAST_STORE, else a file that locks
  // for this user on this host only. Throws Error{invalid_url} and connects lazily.
  explicit Client(std::string_view url = {}, ClientOptions options = {});

  // For tests, simulations, and stores of your own.
  Client(std::shared_ptr<StoreFactory> stores, std::shared_ptr<Host> host,
         ClientOptions options = {});

  ~Client();  // close()
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Capabilities capabilities() const;
  Counters counters() const;
  std::string url() const;  // without the password

  // For people and tools. Each blocks for at most op_timeout and throws Error.
  NameView inspect(const std::string& name);
  Page list(const std::string& prefix = {}, const std::string& cursor = {});
  BreakDone break_name(const std::string& name, BreakMode mode = BreakMode::ask_holder);
  std::vector<Finding> diagnose();

  // Cancels waits, releases leases (bounded: 2 s), joins threads. Idempotent. Not from a handler,
  // a stop callback or an observer: it waits for those.
  void close() noexcept;

  const std::shared_ptr<detail::ClientCore>& core() const noexcept { return core_; }

 private:
  std::shared_ptr<detail::ClientCore> core_;
};

}  // namespace holdfast
