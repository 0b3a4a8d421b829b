// Drives one Connection over one stream: bytes, timer, and nothing else.
#pragma once

#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include "net/stream.hpp"
#include "store/redis/connection.hpp"

#include <array>
#include <memory>

namespace holdfast {
class EventLoop;
}

namespace holdfast::redis {

class Peer : public std::enable_shared_from_this<Peer> {
  struct ByConnect {};  // only connect() makes one, so that it is always shared

 public:
  using EventHandler = UniqueFunction<void(Peer&, Connection::Event&)>;

  // Starts to connect. `options` must outlive it. Events come on the loop, never from inside a
  // call; a handler may close this peer, also by dropping it.
  static std::shared_ptr<Peer> connect(EventLoop& loop, net::Endpoint endpoint,
                                       const Connection::Options& options, EventHandler on_event);
  Peer(ByConnect key, EventLoop& loop, net::Endpoint endpoint, const Connection::Options& options,
       EventHandler on_event);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer();

  const Connection& connection() const noexcept { return connection_; }
  Connection::State state() const noexcept { return connection_.state(); }
  // Why there was no answer in time: "no answer within 2s, in the TLS handshake with db1:6379".
  Failed silence() const;

  // Sends at once if nothing is on its way; else together with what else is sent in this turn of
  // the loop.
  void send(Connection::Ask ask);
  void distrust(std::string_view what);

  // No event comes any more; handlers of pending requests are destroyed uncalled.
  void close() noexcept;

 private:
  void start();
  void read();
  void on_read(const net::StreamError& error, std::size_t size);
  void on_failure(const net::StreamError& error);
  void flush();
  void deliver();
  void arm();

  EventLoop& loop_;
  Connection connection_;
  EventHandler on_event_;
  std::unique_ptr<net::Stream> stream_;
  Runtime::TimerId timer_ = 0;
  Instant timer_at_ = Instant::max();
  Instant used_at_{};
  bool flush_posted_ = false;
  bool closed_ = false;
  std::array<char, 16'384> buffer_{};
};

}  // namespace holdfast::redis
