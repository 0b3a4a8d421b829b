// Which shared leases and permits each thread took by blocking calls, so that a wait behind them
// can be told from one behind somebody else. Exclusive leases need no entry: the store names their
// one holder. For the loop's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

namespace holdfast::detail {

class OwnHolds {
 public:
  void add(std::uint32_t thread, const std::string& name, std::uint32_t permits) {
    permits_[key(thread, name)] += permits;
  }
  // Precondition: they were added.
  void remove(std::uint32_t thread, const std::string& name, std::uint32_t permits) {
    const auto found = permits_.find(key(thread, name));
    found->second -= permits;
    if (found->second == 0) {
      permits_.erase(found);
    }
  }
  // How many permits of `name` (a reader counts as one) are in leases of this thread.
  std::uint32_t count(std::uint32_t thread, const std::string& name) const {
    const auto found = permits_.find(key(thread, name));
    return found == permits_.end() ? 0 : found->second;
  }

 private:
  // 64 bits of thread and name in place of both: there may be many entries. Two that are the same
  // by chance (one in 2^64) would cost a wait, not exclusion.
  static std::size_t key(std::uint32_t thread, const std::string& name) {
    return std::hash<std::string>{}(name) ^ (std::size_t{thread} * 0x9e3779b97f4a7c15U);
  }
  std::unordered_map<std::size_t, std::uint32_t> permits_{};
};

}  // namespace holdfast::detail
