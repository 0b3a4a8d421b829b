// The requests of one store and the connections that carry them: one that takes requests, and those
// that stopped answering and live on for a moment (see connection.hpp). Connects at the first
// request; while connecting fails, requests that wait fail with the reason.
#pragma once

#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include "store/redis/locator.hpp"
#include "store/redis/peer.hpp"
#include "store/redis/retry_delay.hpp"
#include "store/redis/settings.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace holdfast::redis {

class Link {
 public:
  using Handler = UniqueFunction<void(Outcome)>;

  // `locator` must outlive it.
  Link(EventLoop& loop, std::shared_ptr<const Settings> settings, Locator& locator);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  // Once connected, stays so without being asked, and calls `remade` after each new connection that
  // took the place of a lost one.
  void keep_connected(UniqueFunction<void()> remade);

  // `handler` is called once, never from inside, at the latest at `deadline`. `acquires`: whom the
  // request may make holders. `needs_acks`: see Connection::Ask.
  void send(Request request, Instant deadline, Handler handler, std::vector<OwnerId> acquires = {},
            bool (*needs_acks)(const Reply&) = nullptr);

  // As send(), and also behind every unanswered acquire of this owner on a connection that stopped
  // answering: a frozen server executes later what waits in its sockets.
  void send_after_acquires_of(const OwnerId& owner, Request request, Instant deadline,
                              Handler handler);

  // Only the part behind the acquires: on connections that stopped answering, and, `on_current`, on
  // the one that takes requests. Nobody hears the answer. False: no acquire is unanswered there.
  bool copy_behind_acquires_of(const OwnerId& owner, const Request& request, Instant deadline,
                               bool on_current);
  // An acquire of this owner is unanswered on the connection that takes requests.
  bool awaits(const OwnerId& owner) const {
    return current_ != nullptr && current_->connection().awaits(owner);
  }

  // For a handler that was given a reply of a shape that cannot be: its connection ends.
  void distrust_answering_peer();

  // The server is somewhere else: requests go there from now on. True if keep_connected()'s handler
  // will tell when it is reached; false: there never was a connection.
  bool relocate();

  void close() noexcept;  // nothing may follow; handlers still pending are destroyed uncalled

 private:
  using Ask = Connection::Ask;

  void send(Ask ask);
  void connect();
  void connect_to(Locator::Found found);
  void connect_when_due();
  void drop_current();
  void on_not_connected(const Failed& why);
  void on_event(Peer& peer, Connection::Event& event);
  void on_ready(Peer& peer);
  void on_unusable(Peer& peer);
  void on_closed(Peer& peer, const Connection::Closed& closed);
  void answer(Peer& peer, Connection::Answered& answered);
  void fail_waiting(const Failed& why);
  void expire_waiting();
  void arm_expiry();

  EventLoop& loop_;
  std::shared_ptr<const Settings> settings_;
  Locator& locator_;
  std::uint64_t term_ = 0;  // of the place that current_ is at
  bool locating_ = false;
  bool led_nowhere_ = false;  // the last attempt to connect
  UniqueFunction<void()> remade_{};
  std::vector<std::shared_ptr<Peer>> peers_{};  // suspects, and current_
  Peer* current_ = nullptr;                     // connecting, in handshake, or ready
  Peer* answering_ = nullptr;                   // whose answer a handler is looking at
  bool was_connected_ = false;
  std::deque<Ask> waiting_{};  // for current_ to be ready
  Failed last_failure_{};
  RetryDelay retry_{};
  Runtime::TimerId retry_timer_ = 0;
  Runtime::TimerId expiry_timer_ = 0;
  bool closed_ = false;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // gone: a handler destroyed us
};

}  // namespace holdfast::redis
