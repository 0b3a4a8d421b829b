// Everything about a trial that can be chosen in free play, by name and as text: for the command
// line, the page and its address.
//
//   Trial trial;
//   const std::string wrong = turn(trial, "ttl", "5s");  // empty: it is done
#pragma once

#include "sim/stories/trial.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

struct Knob {
  enum class Kind : std::uint8_t { time, count, flag, choice };
  std::string_view name{};   // "ttl"
  std::string_view label{};  // "TTL"
  Kind kind = Kind::count;
  std::int64_t low = 0;   // of times: in milliseconds
  std::int64_t high = 0;  // of flags and choices: the last one
  std::vector<std::string_view> choices{};
  std::int64_t (*get)(const Trial& trial) = nullptr;
  void (*set)(Trial& trial, std::int64_t value) = nullptr;
};

const std::vector<Knob>& knobs();
const Knob* find_knob(std::string_view name);  // null: there is none

// "5s", "12", "on", "set-px".
std::string text(const Knob& knob, const Trial& trial);

// Empty, or a line that says what is wrong with `name` or `value`; then nothing is changed.
std::string turn(Trial& trial, std::string_view name, std::string_view value);

}  // namespace holdfast::sim
