// Random bytes of the kernel, fetched ahead: an owner id costs no system call of its own.
#pragma once

#include "base/fork_generation.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace holdfast {

// Not thread-safe. Bytes fetched before a fork are never handed out after it: two processes with
// the same owner id would be one owner to the store.
class RandomSource {
 public:
  // Throws std::system_error when the kernel has no getrandom().
  void fill(std::span<std::uint8_t> bytes);

 private:
  std::array<std::uint8_t, 256> ahead_{};
  std::size_t used_ = sizeof ahead_;
  unsigned generation_ = fork_generation();
};

}  // namespace holdfast
