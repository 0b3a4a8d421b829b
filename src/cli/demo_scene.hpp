// The stage of `holdfast demo payout`: starts the instances, freezes the one that holds the lock in
// the middle of a write, wakes it after another took over, and counts what came of it.
#pragma once

#include <holdfast/types.hpp>

#include "cli/demo_instance.hpp"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::cli {

struct DemoResult {
  int instances = 0;
  int ran = 0;
  int busy = 0;
  std::vector<std::int64_t> fences{};  // in the order of the grants
  int stale_refused = 0;               // writes that the guard refused
  std::int64_t late_payouts = 0;       // written by the thawed holder, unguarded
  std::int64_t paid = 0;
  std::int64_t double_payouts = 0;
  int frozen_instance = 0;
  Duration frozen_for{};
  Duration took{};
};

// An instance could not do its part, e.g. because the store cannot be reached.
class DemoFailure : public std::runtime_error {
 public:
  DemoFailure(int exit_code, const char* what) : std::runtime_error(what), code_(exit_code) {}
  int exit_code() const noexcept { return code_; }

 private:
  int code_;
};

// `tell` gets one line for each thing that happens: when it did, and what. Throws DemoFailure.
// Precondition: one thread.
using DemoTeller = std::function<void(Duration at, const std::string& what)>;
DemoResult play_payout(const DemoPlan& plan, const DemoTeller& tell);

}  // namespace holdfast::cli
