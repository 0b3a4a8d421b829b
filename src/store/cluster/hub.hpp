// What the stores of one client tell the one that listens: which nodes its leases depend on. A lane
// acquires, and until the first renewal nobody else would know that a node is to be watched.
// Thread-safe.
#pragma once

#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include "store/cluster/address.hpp"

#include <memory>
#include <mutex>
#include <set>

namespace holdfast::cluster {

class Hub {
 public:
  // `watch` is called on `runtime`, from now until leave(), which comes before `runtime` ends.
  void join(Runtime& runtime, UniqueFunction<void(const Address&)> watch);
  void leave() noexcept;

  void depends_on(const Address& node);

 private:
  using Watch = UniqueFunction<void(const Address&)>;
  void post(const Address& node);

  std::mutex mutex_{};
  Runtime* runtime_ = nullptr;
  std::shared_ptr<Watch> watch_{};
  std::set<Address> before_{};  // told when nobody listened yet
};

}  // namespace holdfast::cluster
