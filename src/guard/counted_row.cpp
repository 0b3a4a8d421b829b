#include "guard/counted_row.hpp"

namespace holdfast::guard {

Outcome check_fence(std::int64_t changed, const CountedRow& row, Fence fence,
                    const LookUp& look_up) {
  if (to_int(fence) <= 0) {
    return {make_error_code(errc::invalid_options),
            "a fence is positive: this is not the fence of a lease"};
  }
  if (changed != 0) {
    return {};
  }
  std::int64_t seen = 0;
  if (Outcome looked = look_up(row, seen); looked.code) {
    return looked;
  }
  const std::string number = std::to_string(seen);
  if (seen > to_int(fence)) {
    return told(
        errc::stale_fence, row,
        " was written under fence " + number + ", this one is " + std::to_string(to_int(fence)));
  }
  if (seen == to_int(fence)) {
    return told(errc::already_written, row, " was written under this fence already");
  }
  return told(errc::invalid_options, row,
              " has the lower fence " + number + ": another condition of the UPDATE did not hold");
}

Outcome check_version(std::int64_t changed, const CountedRow& row, std::int64_t read,
                      const LookUp& look_up) {
  if (changed != 0) {
    return {};
  }
  std::int64_t version = 0;
  if (Outcome looked = look_up(row, version); looked.code) {
    return looked;
  }
  if (version != read) {
    return told(
        errc::version_conflict, row,
        " has version " + std::to_string(version) + ", it was read as " + std::to_string(read));
  }
  return told(errc::invalid_options, row,
              " still has this version: another condition of the UPDATE did not hold");
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    text += c;
    if (c == '"') {
      text += c;
    }
  }
  return text + "\"";
}

std::string key_text(const CountedRow& row) {
  const auto* const number = std::get_if<std::int64_t>(&row.key);
  return number != nullptr ? std::to_string(*number)
                           : std::string(std::get<std::string_view>(row.key));
}

Outcome told(errc code, const CountedRow& row, const std::string& what) {
  return {make_error_code(code), "row " + key_text(row) + " of " + std::string(row.table) + what};
}

Outcome told_missing(const CountedRow& row) {
  return told(errc::not_found, row, " does not exist");
}

Outcome told_null(const CountedRow& row) {
  return told(errc::invalid_options, row,
              " has no " + std::string(row.number_column) + ": make the column NOT NULL DEFAULT 0");
}

}  // namespace holdfast::guard
