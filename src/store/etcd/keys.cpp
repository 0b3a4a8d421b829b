#include "store/etcd/keys.hpp"

#include "base/percent.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::etcd {

namespace {

constexpr int hex_base = 16;
constexpr std::int64_t seconds_max = 9'000'000'000;

std::string hex_of(std::int64_t lease) {
  std::array<char, 2 * sizeof lease> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), lease, hex_base).ptr;
  return {digits.data(), end};
}

std::string escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '/') {
      text += "%2F";
    } else if (c == '%') {
      text += "%25";
    } else {
      text += c;
    }
  }
  return text;
}

std::int64_t lease_of(const OwnerId& owner, std::size_t first) {
  std::uint64_t bits = 0;
  for (std::size_t i = first; i < first + sizeof bits; ++i) {
    bits = (bits << 8U) | owner.bytes.at(i);
  }
  // 0 would ask etcd to choose; the top bit would make it negative.
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(bits >> 1U));
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.size() <= 2 * sizeof(std::int64_t) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string Keys::folder(const std::string& name) const { return prefix_ + escaped(name) + "/"; }

std::string Keys::contender(const std::string& name, std::int64_t lease) const {
  return folder(name) + hex_of(lease);
}

std::string Keys::tombstone(const OwnerId& owner) const {
  return prefix_ + "%withdrawn/" + owner.text();
}

std::string Keys::start_of(const std::string& name_prefix) const {
  return prefix_ + escaped(name_prefix);
}

std::optional<std::string> Keys::name_of(std::string_view key) const {
  if (!key.starts_with(prefix_)) {
    return std::nullopt;
  }
  key.remove_prefix(prefix_.size());
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos || !is_hex(key.substr(slash + 1))) {
    return std::nullopt;
  }
  std::optional<std::string> name = percent_decode(key.substr(0, slash));
  return name && valid_name(*name) ? name : std::nullopt;
}

std::string end_of(std::string start) {
  while (!start.empty() && static_cast<unsigned char>(start.back()) == 0xFF) {
    start.pop_back();
  }
  if (start.empty()) {
    return std::string(1, '\0');  // everything
  }
  start.back() = static_cast<char>(static_cast<unsigned char>(start.back()) + 1);
  return start;
}

std::int64_t waiting_lease(const OwnerId& owner) { return lease_of(owner, 0); }
std::int64_t holding_lease(const OwnerId& owner) { return lease_of(owner, 8); }

std::int64_t whole_seconds(Duration time) {
  return std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(time).count(), 1,
                                  seconds_max);
}

}  // namespace holdfast::etcd
