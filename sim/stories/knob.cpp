#include "sim/stories/knob.hpp"

#include "base/duration_text.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;

std::optional<std::int64_t> parse_count(std::string_view text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional{value} : std::nullopt;
}

std::optional<std::int64_t> parse_time(std::string_view text) {
  const auto time = parse_duration(text);
  return time ? std::optional{std::chrono::ceil<milliseconds>(*time).count()} : std::nullopt;
}

std::optional<std::int64_t> parse_flag(std::string_view text) {
  if (text == "on" || text == "1") {
    return 1;
  }
  return text == "off" || text == "0" ? std::optional<std::int64_t>{0} : std::nullopt;
}

std::optional<std::int64_t> parse(const Knob& knob, std::string_view text) {
  switch (knob.kind) {
    case Knob::Kind::time:
      return parse_time(text);
    case Knob::Kind::count:
      return parse_count(text);
    case Knob::Kind::flag:
      return parse_flag(text);
    case Knob::Kind::choice:
      break;
  }
  const auto found = std::ranges::find(knob.choices, text);
  return found == knob.choices.end() ? std::nullopt
                                     : std::optional<std::int64_t>{found - knob.choices.begin()};
}

std::string text_of(const Knob& knob, std::int64_t value) {
  switch (knob.kind) {
    case Knob::Kind::time: {
      // Exact, so that it can be parsed back.
      const bool whole = value % 1000 == 0;
      return whole ? std::to_string(value / 1000) + "s" : std::to_string(value) + "ms";
    }
    case Knob::Kind::count:
      return std::to_string(value);
    case Knob::Kind::flag:
      return value != 0 ? "on" : "off";
    case Knob::Kind::choice:
      break;
  }
  return std::string{knob.choices.at(static_cast<std::size_t>(value))};
}

std::string expected(const Knob& knob) {
  switch (knob.kind) {
    case Knob::Kind::time:
      return "a time from " + text_of(knob, knob.low) + " to " + text_of(knob, knob.high);
    case Knob::Kind::count:
      return "a number from " + text_of(knob, knob.low) + " to " + text_of(knob, knob.high);
    case Knob::Kind::flag:
      return "on or off";
    case Knob::Kind::choice:
      break;
  }
  std::string all = "one of";
  for (const std::string_view choice : knob.choices) {
    all.append(" ").append(choice);
  }
  return all;
}

}  // namespace

const Knob* find_knob(std::string_view name) {
  const auto found = std::ranges::find(knobs(), name, &Knob::name);
  return found == knobs().end() ? nullptr : &*found;
}

std::string text(const Knob& knob, const Trial& trial) { return text_of(knob, knob.get(trial)); }

std::string turn(Trial& trial, std::string_view name, std::string_view value) {
  const Knob* const knob = find_knob(name);
  if (knob == nullptr) {
    return "there is nothing called '" + std::string{name.substr(0, 40)} + "'";
  }
  const auto parsed = parse(*knob, value);
  if (!parsed || *parsed < knob->low || *parsed > knob->high) {
    return std::string{name} + "=" + std::string{value.substr(0, 40)} + " is not " +
           expected(*knob);
  }
  knob->set(trial, *parsed);
  return {};
}

}  // namespace holdfast::sim
