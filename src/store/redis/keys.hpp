// Which Redis key means what. Written down for other languages in README.md ("Keys and channels").
//
//   RedisKeys keys{"lock:"};
//   keys.lock("payout");                            // lock:payout
//   keys.helper(RedisKeys::Kind::fence, "payout");  // lock:{lock:payout}<US>fence<US>lock:payout
//
// <US> is the byte 0x1f. Names and prefixes have no control characters, so no name can equal a
// helper key, and every helper key is in the hash slot of its lock.
#pragma once

#include <holdfast/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::redis {

inline constexpr char unit_separator = '\x1f';

// The layout that README.md describes. A store with a greater one at `prefix US format` is refused.
inline constexpr std::string_view format_version = "1";

class RedisKeys {
 public:
  // fence: the last fence. record: who holds it. queue: waiters by ticket. beats: when each waiter
  // loses its place. waiters: what each waiter asked for. ends, order: when each of several holders
  // ends, and their fences.
  enum class Kind : std::uint8_t { fence, record, queue, beats, waiters, ends, order };

  // Precondition: why_invalid_prefix(prefix).empty().
  explicit RedisKeys(std::string prefix) : prefix_(std::move(prefix)) {}

  const std::string& prefix() const noexcept { return prefix_; }

  std::string lock(std::string_view name) const;
  std::string helper(Kind kind, std::string_view name) const;
  std::string tombstone(std::string_view name, const OwnerId& owner) const;
  std::string done_mark(std::string_view name, std::string_view run_id) const;

  // Where wake-ups for the clients of this prefix go: base + the client's id.
  std::string channel_base() const;
  std::string channel(std::string_view client_id) const { return channel_base().append(client_id); }

  // A pattern for SCAN MATCH that fits every key under the prefix and no other.
  std::string scan_pattern() const;

  // What a key found by SCAN is: a lock, the queue of a name, or something else (nullopt).
  struct Found {
    std::string name{};
    bool is_queue = false;
  };
  std::optional<Found> recognise(std::string_view key) const;

 private:
  std::string helper_of(std::string_view kind, std::string_view name) const;
  std::string prefix_;
};

// Empty if `prefix` may stand before every key, else one clause that says what is wrong with it.
std::string why_invalid_prefix(std::string_view prefix);

// What Redis Cluster hashes: the text in the first {…} of the key if there is any, else the key.
std::string_view hash_tag(std::string_view key) noexcept;

// `text` with the characters that mean something in a Redis glob pattern escaped.
std::string escape_glob(std::string_view text);

}  // namespace holdfast::redis
