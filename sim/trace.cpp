#include "sim/trace.hpp"

#include <array>
#include <cstdio>

namespace holdfast::sim {

void Trace::mix(std::string_view bytes) {
  for (const char c : bytes) {
    hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
}

void Trace::note(Duration at, std::string_view line) {
  std::array<char, 32> stamp{};
  const int length = std::snprintf(stamp.data(), stamp.size(), "%12.6f  ",
                                   std::chrono::duration<double>(at).count());
  const std::string_view time{stamp.data(), static_cast<std::size_t>(length)};
  // The text rounds to microseconds; the hash takes the whole number.
  const auto exact = static_cast<std::uint64_t>(at.count());
  std::array<char, sizeof exact> raw{};
  for (std::size_t i = 0; i < raw.size(); ++i) {
    raw[i] = static_cast<char>(exact >> (8 * i));
  }
  mix({raw.data(), raw.size()});
  mix(line);
  if (sink_) {
    sink_(std::string{time}.append(line));
  }
}

}  // namespace holdfast::sim
