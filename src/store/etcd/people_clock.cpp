#include "store/etcd/people_clock.hpp"

#include <chrono>

namespace holdfast::etcd {

std::int64_t unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace holdfast::etcd
