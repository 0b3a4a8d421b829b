// Whom to ask for the table of slots, and when: a pure machine, told the time and what came back.
//
//   Discovery discovery{seeds};
//   discovery.want(now, Discovery::Why::start);
//   while (auto node = discovery.next(known_nodes, now)) ask(*node);
//   discovery.on_layout(node, now) or on_failure(node, now); again at wake_at()
//
// One node is asked at a time; the next one if it fails or is silent for a moment, so that one
// frozen node delays nothing by more than that. Any table that arrives ends the look. A node that
// answered is asked first the next time, one that failed last.
#pragma once

#include <holdfast/types.hpp>

#include "store/cluster/address.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace holdfast::cluster {

class Discovery {
 public:
  // How soon after the last look another may begin.
  static constexpr Duration after_move = std::chrono::seconds{1};
  static constexpr Duration after_trouble = std::chrono::milliseconds{100};
  static constexpr Duration silence = std::chrono::milliseconds{250};
  static constexpr Duration pause_first = std::chrono::milliseconds{50};  // when nobody answered
  static constexpr Duration pause_longest = std::chrono::seconds{1};

  // move: a redirection told of one slot, and the map knows it already. trouble: somebody cannot be
  // served. start: there is no map.
  enum class Why : std::uint8_t { start, move, trouble };

  explicit Discovery(std::vector<Address> seeds) : seeds_(std::move(seeds)) {}

  void want(Instant now, Why why);

  // Whom to ask now, among `known` nodes and the seeds; call until it answers nobody.
  std::optional<Address> next(const std::vector<Address>& known, Instant now);

  void on_layout(const Address& from, Instant now);
  // True if that was the last one: nobody answered, and the next look begins after a pause.
  bool on_failure(const Address& from, Instant now);

  bool looking() const noexcept { return looking_; }
  // When to call next(); changes with every call but looking(). Instant::max(): nothing is wanted.
  Instant wake_at() const noexcept;

 private:
  void begin(const std::vector<Address>& known, Instant now);
  void end(Instant now) noexcept;

  std::vector<Address> seeds_;
  std::optional<Address> good_{};  // answered last
  std::vector<Address> bad_{};     // failed since
  Instant wanted_at_ = Instant::max();
  Instant ended_at_{};
  Instant not_before_{};
  Duration pause_ = pause_first;
  bool looking_ = false;
  std::deque<Address> untried_{};
  std::vector<Address> unanswered_{};  // of those asked in this look
  Instant next_at_{};
};

}  // namespace holdfast::cluster
