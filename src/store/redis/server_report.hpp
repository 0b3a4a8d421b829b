// What the text of Redis' INFO means for locks. Pure: text in, findings out.
#pragma once

#include <holdfast/claim.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

std::vector<Finding> judge_server(std::string_view info);

// Only what is true of one node of several: version, memory, persistence.
std::vector<Finding> judge_node(std::string_view info);

// The last line of a doctor's visit: what all that was found makes it fit for.
void add_verdict(std::vector<Finding>& findings);

// The value of a field of INFO; empty if it has none.
std::string info_field(std::string_view info, std::string_view field);

}  // namespace holdfast::redis
