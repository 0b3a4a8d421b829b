// Whether the nodes that a client depends on are still there, while it holds or waits for
// something: a pure machine. Each is asked for a sign of life now and then. A node that gives none
// makes the client look at the map again and again, so that it learns of a promotion soon after it
// happened.
#pragma once

#include <holdfast/types.hpp>

#include "store/cluster/address.hpp"

#include <map>
#include <vector>

namespace holdfast::cluster {

class Pulse {
 public:
  static constexpr Duration every = std::chrono::seconds{1};
  static constexpr Duration silence = std::chrono::milliseconds{300};  // then it is in doubt
  static constexpr Duration idle_after = std::chrono::seconds{15};     // longer than any renewal

  // Something is held or waited for: watch for a while from here on.
  void used(Instant now) noexcept { until_ = now + idle_after; }

  // Which of `nodes` to ask for a sign of life now. Others are forgotten.
  std::vector<Address> due(const std::vector<Address>& nodes, Instant now);
  void on_answer(const Address& node, bool alive);

  bool in_use(Instant now) const noexcept { return now < until_; }
  bool in_doubt(Instant now) const noexcept;  // one of them is dead or silent
  // When to call due() and in_doubt() again; changes with every call. Instant::max(): never.
  Instant wake_at(Instant now) const noexcept;

 private:
  struct Beat {
    Instant sent{};
    bool answered = true;
    bool dead = false;
  };
  std::map<Address, Beat> beats_{};
  Instant until_{};
};

}  // namespace holdfast::cluster
