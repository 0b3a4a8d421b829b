// The simulator, from outside: run a seed, read the report.
//
//   const auto report = holdfast::sim::run(7, "partitions");
//   if (!report.passed()) { std::cout << text(report); }
//
// The same seed and scenario give the same world, event by event, and the same hash.
#pragma once

#include "sim/options.hpp"
#include "sim/trace.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

inline constexpr std::string_view default_scenario = "everything";

struct ReportedViolation {
  std::string checker{};
  Duration at{};  // since the beginning of the world
  std::string what{};
};

struct Report {
  std::uint64_t seed = 0;
  std::string scenario{};
  std::string options{};  // one line
  std::uint64_t hash = 0;
  Duration simulated{};
  std::uint64_t steps = 0;
  std::vector<ReportedViolation> violations{};  // in the order of time; the first one counts
  // How often what happened, in words: grants, losses, faults, and what cannot be prevented.
  std::map<std::string, std::uint64_t> counts{};

  bool passed() const noexcept { return violations.empty(); }
};

// Precondition: is_scenario(scenario). `trace`, if set, gets every line of the trace.
Report run(std::uint64_t seed, std::string_view scenario = default_scenario,
           const Trace::Sink& trace = {});

// Adds the counts of `report` to `sum`.
void add(std::map<std::string, std::uint64_t>& sum, const Report& report);

// For people: the verdict, what was violated, and how to see it again.
std::string text(const Report& report);

}  // namespace holdfast::sim
