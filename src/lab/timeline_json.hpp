// A timeline as JSON, for the page and for scripts. Times are in milliseconds, with microseconds
// behind the point.
#pragma once

#include "lab/request.hpp"
#include "sim/timeline/timeline.hpp"

#include <nlohmann/json_fwd.hpp>

namespace holdfast::lab {

// `request` is what `timeline` was computed from.
nlohmann::ordered_json to_json(const Request& request, const sim::Timeline& timeline);

// All stories with their switches, and the knobs of free play: what can be asked for.
nlohmann::ordered_json catalogue();

}  // namespace holdfast::lab
