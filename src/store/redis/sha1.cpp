#include "store/redis/sha1.hpp"

#include "base/hex.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace holdfast::redis {

namespace {

constexpr std::size_t block_size = 64;

using Digest = std::array<std::uint32_t, 5>;

void absorb(Digest& digest, std::string_view block) {
  std::array<std::uint32_t, 80> w{};
  for (std::size_t i = 0; i < block_size; ++i) {
    w[i / 4] = (w[i / 4] << 8U) | static_cast<std::uint8_t>(block[i]);
  }
  for (std::size_t i = 16; i < w.size(); ++i) {
    w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  }
  auto [a, b, c, d, e] = digest;
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::uint32_t mixed = 0;
    if (i < 20) {
      mixed = ((b & c) | (~b & d)) + 0x5a827999U;
    } else if (i < 40) {
      mixed = (b ^ c ^ d) + 0x6ed9eba1U;
    } else if (i < 60) {
      mixed = ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcU;
    } else {
      mixed = (b ^ c ^ d) + 0xca62c1d6U;
    }
    const std::uint32_t next = std::rotl(a, 5) + mixed + e + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  digest[0] += a;
  digest[1] += b;
  digest[2] += c;
  digest[3] += d;
  digest[4] += e;
}

}  // namespace

std::string sha1(std::string_view text) {
  std::string padded{text};
  padded += '\x80';
  while (padded.size() % block_size != block_size - 8) {
    padded += '\0';
  }
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (unsigned int shift = 64; shift != 0; shift -= 8) {
    padded += static_cast<char>((bits >> (shift - 8)) & 0xffU);
  }

  Digest digest{0x67452301U, 0xefcdab89U, 0x98badcfeU, 0x10325476U, 0xc3d2e1f0U};
  for (std::size_t at = 0; at < padded.size(); at += block_size) {
    absorb(digest, std::string_view{padded}.substr(at, block_size));
  }

  std::array<std::uint8_t, 20> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::uint8_t>(digest[i / 4] >> (24 - 8 * (i % 4)));
  }
  return to_hex(bytes);
}

}  // namespace holdfast::redis
