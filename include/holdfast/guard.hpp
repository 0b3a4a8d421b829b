// holdfast/guard.hpp: the storage side of fencing. A guard remembers, per resource, the greatest
// fence it has seen and refuses anything lower. The check and the write must be one atomic step in
// the storage, so each storage has its own guard:
//
//   <holdfast/guard/sqlite.hpp>  check inside your transaction
//
// MemoryGuard is for services that own their data in memory, and the model for the others.
#pragma once

#include <holdfast/error.hpp>
#include <holdfast/types.hpp>

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace holdfast {

// Thread-safe. admit() then write is atomic only under a mutex of yours that covers both.
class MemoryGuard {
 public:
  // Errors: stale_fence if `fence` is below the resource's mark; invalid_options if it is not
  // positive, if `floor` is above it, or if another lock's name guards this resource. Otherwise
  // raises the mark to `floor` (unset: to `fence`).
  void admit(std::string_view resource, std::string_view name, Fence fence,
             Fence floor = Fence::none);
  void admit(std::string_view resource, std::string_view name, Fence fence, Fence floor,
             std::error_code& ec);

 private:
  struct Mark {
    std::string name{};
    Fence greatest = Fence::none;
  };
  std::mutex mutex_{};
  std::map<std::string, Mark, std::less<>> marks_{};
};

}  // namespace holdfast
