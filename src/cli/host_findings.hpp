// What an operator should know about this host, for `holdfast doctor`.
#pragma once

#include <holdfast/claim.hpp>

#include <string>
#include <vector>

namespace holdfast::cli {

// Can the supervisor see and end a whole process tree here? `store`: as given with --store.
std::vector<Finding> host_findings(const std::string& store);

}  // namespace holdfast::cli
