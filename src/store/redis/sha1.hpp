// SHA-1, because Redis names scripts by it. Not for anything that must resist an attacker.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::redis {

// 40 lower-case hex digits. (FIPS 180-4; OpenSSL's costs a millisecond of start-up.)
std::string sha1(std::string_view text);

}  // namespace holdfast::redis
