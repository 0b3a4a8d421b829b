#include "store/cluster/slot.hpp"

#include "store/redis/keys.hpp"

#include <array>

namespace holdfast::cluster {

namespace {

constexpr std::uint16_t polynomial = 0x1021;

constexpr std::array<std::uint16_t, 256> make_table() {
  std::array<std::uint16_t, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    auto crc = static_cast<std::uint16_t>(byte << 8U);
    for (int bit = 0; bit < 8; ++bit) {
      const bool high = (crc & 0x8000U) != 0;
      crc = static_cast<std::uint16_t>(crc << 1U);
      crc = high ? static_cast<std::uint16_t>(crc ^ polynomial) : crc;
    }
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<std::uint16_t, 256> table = make_table();

}  // namespace

std::uint16_t crc16(std::string_view bytes) noexcept {
  std::uint16_t crc = 0;
  for (const char byte : bytes) {
    const auto index = static_cast<std::uint8_t>((crc >> 8U) ^ static_cast<std::uint8_t>(byte));
    crc = static_cast<std::uint16_t>(static_cast<std::uint16_t>(crc << 8U) ^ table[index]);
  }
  return crc;
}

Slot slot_of(std::string_view key) noexcept { return crc16(redis::hash_tag(key)) % slot_count; }

}  // namespace holdfast::cluster
