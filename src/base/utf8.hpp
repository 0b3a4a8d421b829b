// UTF-8 checks (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
#pragma once

#include <string_view>

namespace holdfast {

bool is_valid_utf8(std::string_view text) noexcept;

// U+0000-U+001F, U+007F, or U+0080-U+009F. Precondition: valid UTF-8.
bool has_control_character(std::string_view text) noexcept;

}  // namespace holdfast
