// The parts of the table of stories; stories() of story.hpp is the whole. Not for anybody else.
#pragma once

#include "sim/stories/story.hpp"

namespace holdfast::sim {

std::vector<Story> stories_of_storage();
std::vector<Story> stories_of_servers();

}  // namespace holdfast::sim
