// What a sqlite:/// URL says, and what belongs to all stores of one factory.
#pragma once

#include "base/store_url.hpp"
#include "store/sqlite/host_clock.hpp"

#include <holdfast/runtime.hpp>

#include <string>

namespace holdfast::sqlite {

struct Settings {
  std::string path{};
  Duration op_timeout = std::chrono::seconds{2};
  bool any_file_system = false;
  std::string url{};
  // Unset: this process's. Tests put another boot or time namespace here.
  std::optional<HostClock> clock{};

  // Throws Error{invalid_url} that names what cannot be understood.
  static Settings from(const StoreUrl& url);
};

}  // namespace holdfast::sqlite
