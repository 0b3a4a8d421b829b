// Listens on the channel of this client, on a connection of its own. The payloads are "granted
// OWNER FENCE FLOOR", "look OWNER" to a waiter and "broken OWNER" to a holder. They are hints:
// those that are lost are made up for by the waiters' timers and the holders' renewals.
//
// Behind a pooler LISTEN would bind a session that may serve anybody next, so nothing is heard
// there; `listen=` in the URL names a direct way.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include "runtime/held_back.hpp"
#include "store/postgres/session.hpp"
#include "store/postgres/settings.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace holdfast {
class EventLoop;
}

namespace holdfast::postgres {

// What a payload means; nullopt: not one of ours.
std::optional<StoreEvent> parse_wake_up(std::string_view payload);

class WakeListener {
 public:
  // `on_event` also gets Doubt after a time in which wake-ups may have been missed.
  WakeListener(EventLoop& loop, std::shared_ptr<const Settings> settings,
               UniqueFunction<void(const StoreEvent&)> on_event);
  WakeListener(const WakeListener&) = delete;
  WakeListener& operator=(const WakeListener&) = delete;
  ~WakeListener();

  void start();
  // Starts, and calls `go` once: when wake-ups arrive, when it is known that for now they cannot,
  // or at `latest`. May call it at once.
  void when_settled(Instant latest, UniqueFunction<void()> go);
  // Nothing will be heard: a pooler is in the way.
  bool is_deaf() const noexcept { return state_ == State::deaf; }
  void close() noexcept;

 private:
  enum class State : std::uint8_t { idle, connecting, listening, failed, deaf };

  void connect();
  void on_ready();
  void on_listening(const Outcome& outcome);
  void on_failed();
  bool take_missed();

  EventLoop& loop_;
  std::shared_ptr<const Settings> settings_;
  UniqueFunction<void(const StoreEvent&)> tell_;
  std::shared_ptr<Session> session_{};
  State state_ = State::idle;
  bool missed_ = false;  // something may have been told while nobody listened
  HeldBack held_;
  Duration retry_delay_;
  Runtime::TimerId retry_timer_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace holdfast::postgres
