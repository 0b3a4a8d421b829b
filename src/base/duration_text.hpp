// Durations as people write them: `1.5s`, `200ms`, `10m`, `2h`, `7d`.
#pragma once

#include <holdfast/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

// A decimal number followed by ns, us, ms, s, m, h or d; "0" alone is zero. Negative numbers,
// missing units, other text and values beyond 292 years give nullopt. Rounds up to a nanosecond.
std::optional<Duration> parse_duration(std::string_view text);

// Short, for people: "1.5s", "230ms", "2h5m". Not meant to be parsed back exactly.
std::string duration_text(Duration duration);

}  // namespace holdfast
