#include "store/redis/keys.hpp"

#include "base/utf8.hpp"

#include <holdfast/claim.hpp>

#include <algorithm>

namespace holdfast::redis {

namespace {

constexpr std::size_t prefix_size_max = 128;

std::string_view word(RedisKeys::Kind kind) noexcept {
  switch (kind) {
    case RedisKeys::Kind::fence:
      return "fence";
    case RedisKeys::Kind::record:
      return "record";
    case RedisKeys::Kind::queue:
      return "queue";
    case RedisKeys::Kind::beats:
      return "beats";
    case RedisKeys::Kind::waiters:
      return "waiters";
    case RedisKeys::Kind::ends:
      return "ends";
    case RedisKeys::Kind::order:
      return "order";
  }
  return "";
}

}  // namespace

std::string_view hash_tag(std::string_view key) noexcept {
  const auto open = key.find('{');
  if (open == std::string_view::npos) {
    return key;
  }
  const auto close = key.find('}', open + 1);
  if (close == std::string_view::npos || close == open + 1) {
    return key;
  }
  return key.substr(open + 1, close - open - 1);
}

std::string escape_glob(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size() + 8);
  for (const char c : text) {
    if (c == '*' || c == '?' || c == '[' || c == ']' || c == '\\' || c == '^') {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

std::string why_invalid_prefix(std::string_view prefix) {
  if (prefix.empty()) {
    return "";
  }
  if (prefix.size() > prefix_size_max) {
    return "is longer than " + std::to_string(prefix_size_max) + " bytes";
  }
  return why_invalid_name(prefix);
}

std::string RedisKeys::lock(std::string_view name) const {
  std::string key;
  key.reserve(prefix_.size() + name.size());
  return key.append(prefix_).append(name);
}

std::string RedisKeys::helper(Kind kind, std::string_view name) const {
  return helper_of(word(kind), name);
}

std::string RedisKeys::tombstone(std::string_view name, const OwnerId& owner) const {
  return helper_of("gone:" + owner.text(), name);
}

std::string RedisKeys::done_mark(std::string_view name, std::string_view run_id) const {
  return helper_of(std::string{"done:"}.append(run_id), name);
}

std::string RedisKeys::helper_of(std::string_view kind, std::string_view name) const {
  const std::string key = lock(name);
  const std::string_view tag = hash_tag(key);
  std::string helper;
  helper.reserve(prefix_.size() + tag.size() + kind.size() + key.size() + 4);
  helper.append(prefix_).append(1, '{').append(tag).append("}");
  return helper.append(1, unit_separator).append(kind).append(1, unit_separator).append(key);
}

std::string RedisKeys::channel_base() const {
  std::string base = prefix_;
  return base.append(1, unit_separator).append("wake").append(1, unit_separator);
}

std::string RedisKeys::scan_pattern() const { return escape_glob(prefix_) + '*'; }

std::optional<RedisKeys::Found> RedisKeys::recognise(std::string_view key) const {
  Found found;
  const auto last = key.rfind(unit_separator);
  if (last != std::string_view::npos) {
    found.is_queue = true;
    const std::string_view tail = key.substr(last + 1);
    if (!tail.starts_with(prefix_)) {
      return std::nullopt;
    }
    found.name = tail.substr(prefix_.size());
    if (!valid_name(found.name) || key != helper(Kind::queue, found.name)) {
      return std::nullopt;
    }
    return found;
  }
  if (!key.starts_with(prefix_) || !valid_name(key.substr(prefix_.size()))) {
    return std::nullopt;
  }
  found.name = key.substr(prefix_.size());
  return found;
}

}  // namespace holdfast::redis
