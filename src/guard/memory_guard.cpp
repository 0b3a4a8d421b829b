#include <holdfast/guard.hpp>

namespace holdfast {

void MemoryGuard::admit(std::string_view resource, std::string_view name, Fence fence,
                        Fence floor) {
  std::error_code ec;
  admit(resource, name, fence, floor, ec);
  if (ec) {
    throw Error(ec, "resource " + std::string(resource));
  }
}

void MemoryGuard::admit(std::string_view resource, std::string_view name, Fence fence, Fence floor,
                        std::error_code& ec) {
  const Fence raise_to = floor == Fence::none ? fence : floor;
  if (to_int(fence) <= 0 || to_int(raise_to) <= 0 || raise_to > fence || name.empty()) {
    ec = errc::invalid_options;
    return;
  }
  const std::scoped_lock lock(mutex_);
  const auto known = marks_.find(resource);
  if (known == marks_.end()) {
    marks_.emplace(resource, Mark{std::string(name), raise_to});
    ec.clear();
    return;
  }
  Mark& mark = known->second;
  if (mark.name != name) {
    ec = errc::invalid_options;
    return;
  }
  if (fence < mark.greatest) {
    ec = errc::stale_fence;
    return;
  }
  if (raise_to > mark.greatest) {
    mark.greatest = raise_to;
  }
  ec.clear();
}

}  // namespace holdfast
