// What the public classes ask a client for: a name, the way in which to use it, and the kind of
// lease.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/options.hpp>

#include <string>

namespace holdfast::detail {

struct Ask {
  std::string name{};
  LeaseOptions options{};
  Mode mode = Mode::exclusive;
  std::uint32_t permits = 1;
  std::uint32_t limit = 0;  // 0: a lock, not a semaphore
  std::string run_id{};     // not empty: errc::already_done once this run is marked done
  std::string value{};
};

}  // namespace holdfast::detail
