#include "core/lease_options.hpp"

#include <holdfast/claim.hpp>

#include "base/duration_text.hpp"
#include "base/utf8.hpp"
#include "core/trust.hpp"

namespace holdfast {

namespace {

std::string out_of_range(const char* what, Duration value) {
  return std::string{what} + " " + duration_text(value) +
         " must be above zero and at most 10 years";
}

bool in_range(const std::optional<Duration>& value) {
  return !value || (*value > Duration{0} && *value <= ttl_max);
}

}  // namespace

std::string why_invalid(const LeaseOptions& options) {
  if (options.ttl < ttl_min || options.ttl > ttl_max) {
    return "ttl " + duration_text(options.ttl) + " must be at least 100ms and at most 10 years";
  }
  const Duration margin = margin_of(options, options.ttl);
  if (margin < Duration{0} || margin >= options.ttl / 2) {
    return "safety margin " + duration_text(margin) + " must be below half the ttl " +
           duration_text(options.ttl);
  }
  if (!in_range(options.max_hold)) {
    return out_of_range("max_hold", *options.max_hold);
  }
  if (!in_range(options.min_hold)) {
    return out_of_range("min_hold", *options.min_hold);
  }
  if (options.lock_delay && (*options.lock_delay < Duration{0} || *options.lock_delay > ttl_max)) {
    return out_of_range("lock_delay", *options.lock_delay);
  }
  if (options.max_hold && *options.max_hold <= 2 * margin) {
    return "max_hold " + duration_text(*options.max_hold) + " leaves no time to work: it must be " +
           "above twice the safety margin " + duration_text(margin);
  }
  if (options.max_hold && options.min_hold && *options.min_hold > *options.max_hold) {
    return "min_hold is longer than max_hold";
  }
  if (options.note.size() > note_size_max) {
    return "the note is longer than 200 bytes";
  }
  if (!is_valid_utf8(options.note) || has_control_character(options.note)) {
    return "the note is not plain text: control characters and broken UTF-8 are not allowed";
  }
  return {};
}

}  // namespace holdfast
