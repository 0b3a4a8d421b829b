// Lower-case hexadecimal text for bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace holdfast {

std::string to_hex(std::span<const std::uint8_t> bytes);

// False, with `bytes` unspecified, unless `text` is exactly twice as many hex digits.
bool from_hex(std::string_view text, std::span<std::uint8_t> bytes) noexcept;

}  // namespace holdfast
