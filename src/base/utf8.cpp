#include "base/utf8.hpp"

#include <cstdint>

namespace holdfast {

namespace {

struct Sequence {
  std::size_t length;          // 0: not a valid first byte
  std::uint8_t second_lowest;  // the second byte's range rules out overlong forms and surrogates
  std::uint8_t second_highest;
};

Sequence sequence(std::uint8_t first) noexcept {
  if (first < 0x80) {
    return {1, 0, 0};
  }
  if (first >= 0xc2 && first <= 0xdf) {
    return {2, 0x80, 0xbf};
  }
  if (first >= 0xe0 && first <= 0xef) {
    return {3, static_cast<std::uint8_t>(first == 0xe0 ? 0xa0 : 0x80),
            static_cast<std::uint8_t>(first == 0xed ? 0x9f : 0xbf)};
  }
  if (first >= 0xf0 && first <= 0xf4) {
    return {4, static_cast<std::uint8_t>(first == 0xf0 ? 0x90 : 0x80),
            static_cast<std::uint8_t>(first == 0xf4 ? 0x8f : 0xbf)};
  }
  return {0, 0, 0};
}

std::uint8_t byte_at(std::string_view text, std::size_t i) noexcept {
  return static_cast<std::uint8_t>(text[i]);
}

}  // namespace

bool is_valid_utf8(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    const Sequence expected = sequence(byte_at(text, i));
    if (expected.length == 0 || i + expected.length > text.size()) {
      return false;
    }
    for (std::size_t k = 1; k < expected.length; ++k) {
      const std::uint8_t byte = byte_at(text, i + k);
      const std::uint8_t lowest = k == 1 ? expected.second_lowest : std::uint8_t{0x80};
      const std::uint8_t highest = k == 1 ? expected.second_highest : std::uint8_t{0xbf};
      if (byte < lowest || byte > highest) {
        return false;
      }
    }
    i += expected.length;
  }
  return true;
}

bool has_control_character(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::uint8_t byte = byte_at(text, i);
    if (byte < 0x20 || byte == 0x7f) {
      return true;
    }
    // U+0080-U+009F is C2 80-9F.
    if (byte == 0xc2 && i + 1 < text.size() && byte_at(text, i + 1) < 0xa0) {
      return true;
    }
  }
  return false;
}

}  // namespace holdfast
