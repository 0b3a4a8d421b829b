// One request's way through a cluster: a pure machine that is told what each node answered and says
// what to do next. It never sends again what may have had effect.
//
//   | answer                         | next                                            |
//   |--------------------------------|-------------------------------------------------|
//   | MOVED                          | there, at once; after several, with pauses      |
//   | ASK                            | there, this once, with ASKING                   |
//   | TRYAGAIN, a script cut short   | the slot's node again, after a growing pause    |
//   | CLUSTERDOWN, LOADING, …        | the slot's node again, after a pause and a look |
//   | no answer, nothing sent        | the same                                        |
//   | anything else                  | finish                                          |
//
// At the deadline it ends with what was answered last.
#pragma once

#include <holdfast/claim.hpp>

#include "store/cluster/redirection.hpp"

#include <cstdint>
#include <optional>

namespace holdfast::cluster {

class Journey {
 public:
  static constexpr int hops_max = 5;  // at once; two nodes may disagree for a while
  static constexpr Duration pause_first = std::chrono::milliseconds{5};
  static constexpr Duration pause_longest = std::chrono::milliseconds{50};

  enum class Next : std::uint8_t {
    send,    // to redirected_to(), or the slot's node
    wait,    // until wake_at(), or a new map; then send
    finish,  // with failure()
  };

  Journey(Slot slot, Instant deadline) : slot_(slot), deadline_(deadline) {}

  Slot slot() const noexcept { return slot_; }
  Instant deadline() const noexcept { return deadline_; }

  // `failed`: what the caller is to be told if there is no time left.
  Next on_redirection(const Redirection& redirection, Failed failed, Instant now);
  // It never reached a server, or none is known.
  Next on_unreachable(Failed failed, Instant now);
  // The time to wait is over, or there is a new map.
  Next on_time(Instant now);

  const std::optional<Address>& redirected_to() const noexcept { return to_; }
  bool asking() const noexcept { return asking_; }
  Instant wake_at() const noexcept { return wake_at_; }
  Failed failure() const;
  // An earlier try may have left traces, whatever the last one says.
  bool may_have_had_effect() const noexcept { return may_have_had_effect_; }

 private:
  Next pause(Instant now);

  Slot slot_;
  Instant deadline_;
  Instant wake_at_{};
  Duration pause_ = pause_first;
  int hops_ = 0;
  std::optional<Address> to_{};
  bool asking_ = false;
  bool may_have_had_effect_ = false;
  Failed last_{};
};

}  // namespace holdfast::cluster
