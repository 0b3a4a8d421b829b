// What the public classes ask a client for: a name, the way in which to use it, and the kind of
// lease.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>
#include <holdfast/options.hpp>
#include <holdfast/store.hpp>

#include <optional>
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

// An ask that is not even sent, and a line for people that says why.
struct Refusal {
  errc code{};
  std::string detail{};
};

// Set if the ask is wrong in itself, or beyond what a store of these capabilities can do.
std::optional<Refusal> why_refused(const Ask& ask, const Capabilities& store);

// Of a value that has more than value_size_max bytes.
std::string why_too_long(const std::string& value);

// For constructors. Throws Error{invalid_name, invalid_options}.
void require_valid(const std::string& name, const LeaseOptions& options);

}  // namespace holdfast::detail
