// What is wrong with lease options, before anything is sent.
#pragma once

#include <holdfast/options.hpp>

#include <string>

namespace holdfast {

// Empty if they are usable, else one line that says what is wrong and what is allowed.
std::string why_invalid(const LeaseOptions& options);

}  // namespace holdfast
