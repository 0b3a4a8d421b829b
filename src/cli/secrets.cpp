#include "cli/secrets.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace holdfast::cli {

namespace {

// The password's place in "scheme://user:password@host": from the first colon of the authority to
// its last @. Wrong URLs are blanked too: what looks like a password may be one.
std::string_view password_in(std::string_view text) noexcept {
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) {
    return {};
  }
  const std::size_t begin = scheme + 3;
  const std::size_t at = text.substr(0, text.find('?')).rfind('@');
  if (at == std::string_view::npos || at < begin) {
    return {};
  }
  const std::size_t colon = text.find(':', begin);
  if (colon == std::string_view::npos || colon + 1 >= at) {
    return {};
  }
  return text.substr(colon + 1, at - colon - 1);
}

}  // namespace

std::vector<std::string> secret_variables() {
  return {"HOLDFAST_PASSWORD", "HOLDFAST_PASSWORD_FILE"};
}

bool blank_passwords(std::span<char*> arguments) noexcept {
  bool found = false;
  for (char* const argument : arguments) {
    if (std::strcmp(argument, "--") == 0) {
      break;
    }
    const std::string_view password = password_in(argument);
    if (!password.empty()) {
      const auto offset = static_cast<std::size_t>(password.data() - argument);
      std::fill_n(argument + offset, password.size(), '*');
      found = true;
    }
  }
  return found;
}

}  // namespace holdfast::cli
