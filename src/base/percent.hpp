// Percent-encoding of URLs (RFC 3986, section 2.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace holdfast {

// None when a "%" is not followed by two hexadecimal digits. "+" stays a plus.
std::optional<std::string> percent_decode(std::string_view text);

// Encodes everything but letters, digits, "-._~" and the bytes in `also_plain`.
std::string percent_encode(std::string_view bytes, std::string_view also_plain);

}  // namespace holdfast
