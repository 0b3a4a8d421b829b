// Plays one experiment and tells what happened: same trial and seed, same timeline.
//
//   Trial trial;
//   trial.pause = 5s;
//   const Timeline timeline = tell(trial);
//   timeline.verdict.double_payouts;  // 1 or more: a lock alone does not prevent this
//
// A trial is valid if why_invalid() says nothing.
#pragma once

#include "sim/stories/trial.hpp"
#include "sim/timeline/timeline.hpp"

#include <string>

namespace holdfast::sim {

// Empty, or one clause that says which two values do not fit together.
std::string why_invalid(const Trial& trial);

// Precondition: why_invalid(trial) is empty.
Timeline tell(const Trial& trial);

}  // namespace holdfast::sim
