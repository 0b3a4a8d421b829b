#include "base/duration_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace holdfast {

namespace {

constexpr std::array<std::pair<std::string_view, double>, 7> units{{{"ns", 1.0},
                                                                    {"us", 1e3},
                                                                    {"ms", 1e6},
                                                                    {"s", 1e9},
                                                                    {"m", 60e9},
                                                                    {"h", 3600e9},
                                                                    {"d", 86400e9}}};

std::string with_unit(double value, std::string_view unit) {
  std::array<char, 32> buffer{};
  // One decimal is enough for a person; a trailing ".0" only makes noise.
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::fixed, 1);
  std::string text{buffer.data(), end.ptr};
  if (text.ends_with(".0")) {
    text.resize(text.size() - 2);
  }
  return text.append(unit);
}

std::string two_units(std::int64_t big, std::string_view big_unit, std::int64_t small,
                      std::string_view small_unit) {
  std::string text = std::to_string(big).append(big_unit);
  if (small != 0) {
    text.append(std::to_string(small)).append(small_unit);
  }
  return text;
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
  if (text == "0") {
    return Duration{0};
  }
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (parsed.ec != std::errc{} || std::signbit(value) || !std::isfinite(value)) {
    return std::nullopt;
  }
  const std::string_view unit{parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)};
  for (const auto& [name, nanoseconds] : units) {
    if (unit == name) {
      const double total = std::ceil(value * nanoseconds);
      if (total >= 9.2e18) {
        return std::nullopt;
      }
      return Duration{static_cast<std::int64_t>(total)};
    }
  }
  return std::nullopt;
}

std::string duration_text(Duration duration) {
  if (duration < Duration{0}) {
    // The lowest Duration has no positive counterpart; the next one reads the same.
    std::string text{"-"};  // not "-" + ...: g++ 12 warns falsely of that at -O3
    return text += duration_text(-std::max(duration, -Duration::max()));
  }
  const auto count = static_cast<double>(duration.count());
  const std::int64_t seconds = duration / std::chrono::seconds{1};
  if (seconds >= 86400) {
    return two_units(seconds / 86400, "d", seconds % 86400 / 3600, "h");
  }
  if (seconds >= 3600) {
    return two_units(seconds / 3600, "h", seconds % 3600 / 60, "m");
  }
  if (seconds >= 60) {
    return two_units(seconds / 60, "m", seconds % 60, "s");
  }
  if (count >= 1e9) {
    return with_unit(count / 1e9, "s");
  }
  if (count >= 1e6) {
    return with_unit(count / 1e6, "ms");
  }
  if (count >= 1e3) {
    return with_unit(count / 1e3, "us");
  }
  return with_unit(count, "ns");
}

}  // namespace holdfast
