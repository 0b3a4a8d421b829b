// Where the primary is, as far as is known. Shared by the stores of one factory; thread-safe.
#pragma once

#include "net/stream.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

namespace holdfast::redis {

class PrimaryPlace {
 public:
  std::optional<net::Endpoint> get() const {
    const std::lock_guard lock{mutex_};
    return known_;
  }
  // Rises with every move.
  std::uint64_t term() const noexcept { return term_.load(std::memory_order_acquire); }

  // True if that is another place than before.
  bool set(const net::Endpoint& endpoint) {
    const std::lock_guard lock{mutex_};
    if (known_ && known_->host == endpoint.host && known_->port == endpoint.port) {
      return false;
    }
    known_ = endpoint;
    term_.fetch_add(1, std::memory_order_release);
    return true;
  }

 private:
  mutable std::mutex mutex_{};
  std::optional<net::Endpoint> known_{};
  std::atomic<std::uint64_t> term_{0};
};

}  // namespace holdfast::redis
