#include <holdfast/claim.hpp>

#include "base/utf8.hpp"

namespace holdfast {

namespace {

// Braces must be the same thing to every store: Redis hashes the first {tag} only.
std::string why_invalid_braces(std::string_view name) {
  bool open = false;
  std::size_t opened_at = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '{') {
      if (open) {
        return "has a '{' inside braces";
      }
      open = true;
      opened_at = i;
    } else if (name[i] == '}') {
      if (!open) {
        return "has a '}' without a '{'";
      }
      if (i == opened_at + 1) {
        return "has empty braces '{}'";
      }
      open = false;
    }
  }
  return open ? "has a '{' that is never closed" : "";
}

}  // namespace

std::string why_invalid_name(std::string_view name) {
  if (name.empty()) {
    return "is empty";
  }
  if (name.size() > name_size_max) {
    return "is " + std::to_string(name.size()) + " bytes long; at most " +
           std::to_string(name_size_max) + " are allowed";
  }
  if (!is_valid_utf8(name)) {
    return "is not valid UTF-8";
  }
  if (has_control_character(name)) {
    return "has a control character";
  }
  return why_invalid_braces(name);
}

}  // namespace holdfast
