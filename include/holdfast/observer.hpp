// holdfast/observer.hpp: what happened, for logs and metrics.
//
//   struct Log : holdfast::Observer {
//     void on_event(const holdfast::Event& event) override { std::clog << event.name << '\n'; }
//   };
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/types.hpp>

#include <cstdint>
#include <string>
#include <system_error>

namespace holdfast {

struct Event {
  enum class Kind : std::uint8_t {
    waiting,         // the name is held; we wait. `holder` says by whom, if the store told
    granted,         // fence is set
    not_granted,     // an attempt ended without a grant; code says why
    renewed,         // until is the new end of trust
    renewal_failed,  // one try failed; the watchdog goes on. code, detail
    lost,            // code: expired, taken, broken, max_hold, stale_fence
    released,        // code is empty, or why the store's answer was not "released"
  };
  Kind kind = Kind::waiting;
  std::string name{};
  OwnerId owner{};
  Fence fence = Fence::none;
  std::error_code code{};
  std::string detail{};
  Instant until{};
  Holder holder{};
};

// The stable word for a kind, as in --json output: "granted".
const char* event_word(Event::Kind kind) noexcept;

// Called on notifier threads, possibly several at once, never under a mutex. A slow observer
// delays no lease. Must not throw.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;
  virtual void on_event(const Event& event) = 0;
};

// Since the client was made.
struct Counters {
  std::uint64_t granted = 0;
  std::uint64_t not_granted = 0;
  std::uint64_t renewed = 0;
  std::uint64_t renewals_failed = 0;
  std::uint64_t lost = 0;      // watchdog: expired, taken, broken, max_hold
  std::uint64_t overlaps = 0;  // of these: taken, i.e. somebody else may have been inside
  std::uint64_t released = 0;
  std::uint64_t held = 0;     // now
  std::uint64_t waiting = 0;  // now
};

}  // namespace holdfast
