// Listens to the wake-up channel of this client, on a connection of its own: a connection that
// listens can do nothing else (RESP2).
//
// The payloads are "granted OWNER FENCE", with FLOOR after it where that is another number,
// "look OWNER" to a waiter and "broken OWNER" to a holder. They are hints: those that are lost are
// made up for by the waiters' timers and the holders' renewals.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include "runtime/held_back.hpp"
#include "store/redis/locator.hpp"
#include "store/redis/peer.hpp"
#include "store/redis/retry_delay.hpp"
#include "store/redis/settings.hpp"

#include <memory>
#include <optional>
#include <string_view>

namespace holdfast::redis {

// What a payload means; nullopt: not one of ours.
std::optional<StoreEvent> parse_wake_up(std::string_view payload);

class WakeListener {
 public:
  // `on_event` also gets Doubt after a time in which wake-ups may have been missed.
  WakeListener(EventLoop& loop, std::shared_ptr<const Settings> settings, Locator& locator,
               UniqueFunction<void(const StoreEvent&)> on_event);
  WakeListener(const WakeListener&) = delete;
  WakeListener& operator=(const WakeListener&) = delete;
  ~WakeListener();

  void start();

  // Starts, and calls `go` once: when wake-ups arrive, when it is known that for now they cannot,
  // or at `latest`. May call it at once.
  void when_settled(Instant latest, UniqueFunction<void()> go);

  // The server is somewhere else: listens there from now on.
  void relocate();

  void close() noexcept;

 private:
  void connect();
  void connect_to(Locator::Found found);
  void connect_later();
  void on_event(Connection::Event& event);
  bool take_missed();

  EventLoop& loop_;
  std::shared_ptr<const Settings> settings_;
  Locator& locator_;
  std::uint64_t term_ = 0;    // of the place that peer_ is at
  bool led_nowhere_ = false;  // the last attempt to connect
  UniqueFunction<void(const StoreEvent&)> tell_;
  std::shared_ptr<Peer> peer_{};
  bool started_ = false;
  bool missed_ = false;  // something may have been published while nobody listened
  HeldBack held_;
  RetryDelay retry_{};
  Runtime::TimerId retry_timer_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace holdfast::redis
