#include <holdfast/guard.hpp>

namespace holdfast {

namespace {

void raise_if(const std::error_code& ec, std::string_view key) {
  if (ec) {
    throw Error(ec, "key " + std::string(key));
  }
}

}  // namespace

OnceAnswer MemoryOnce::take(std::string_view key, Fence fence) {
  std::error_code ec;
  OnceAnswer answer = take(key, fence, ec);
  raise_if(ec, key);
  return answer;
}

OnceAnswer MemoryOnce::take(std::string_view key, Fence fence, std::error_code& ec) {
  if (key.empty() || to_int(fence) < 0) {
    ec = errc::invalid_options;
    return {};
  }
  ec.clear();
  const std::scoped_lock lock(mutex_);
  const auto [found, first] = keys_.try_emplace(std::string(key), Taken{.fence = fence});
  if (first) {
    return {.first = true};
  }
  return {.first = false, .result = found->second.result, .fence = found->second.fence};
}

void MemoryOnce::keep(std::string_view key, std::string_view result) {
  std::error_code ec;
  keep(key, result, ec);
  raise_if(ec, key);
}

void MemoryOnce::keep(std::string_view key, std::string_view result, std::error_code& ec) {
  const std::scoped_lock lock(mutex_);
  const auto found = keys_.find(key);
  if (found == keys_.end()) {
    ec = errc::not_found;
    return;
  }
  if (found->second.result) {
    ec = errc::already_written;
    return;
  }
  found->second.result = std::string(result);
  ec.clear();
}

void MemoryOnce::forget(std::string_view key) {
  const std::scoped_lock lock(mutex_);
  const auto found = keys_.find(key);
  if (found != keys_.end()) {
    keys_.erase(found);
  }
}

}  // namespace holdfast
