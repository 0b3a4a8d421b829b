#include "runtime/random_source.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace holdfast {

namespace {

void from_kernel(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = getrandom(bytes.data(), bytes.size(), 0);
    if (count < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::system_category(), "getrandom");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace

void RandomSource::fill(std::span<std::uint8_t> bytes) {
  if (bytes.size() > ahead_.size()) return from_kernel(bytes);
  const bool forked = generation_ != fork_generation();
  if (forked || bytes.size() > ahead_.size() - used_) {
    from_kernel(ahead_);
    used_ = 0;
    generation_ = fork_generation();
  }
  std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(used_), bytes.size(), bytes.begin());
  used_ += bytes.size();
}

}  // namespace holdfast
