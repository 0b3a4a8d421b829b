#include "store/redis/peer.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "runtime/event_loop.hpp"

#include <utility>

namespace holdfast::redis {

namespace {

// A connection that was not used for this long may have been closed by the server meanwhile.
constexpr Duration idle_long = std::chrono::milliseconds{100};

}  // namespace

std::shared_ptr<Peer> Peer::connect(EventLoop& loop, net::Endpoint endpoint,
                                    const Connection::Options& options, EventHandler on_event) {
  auto peer =
      std::make_shared<Peer>(ByConnect{}, loop, std::move(endpoint), options, std::move(on_event));
  peer->start();
  return peer;
}

Peer::Peer(ByConnect /*key*/, EventLoop& loop, net::Endpoint endpoint,
           const Connection::Options& options, EventHandler on_event)
    : loop_(loop),
      connection_(options, loop.now()),
      on_event_(std::move(on_event)),
      stream_(net::make_stream(loop, std::move(endpoint))) {}

Peer::~Peer() { close(); }

void Peer::start() {
  arm();
  stream_->connect([this](const net::StreamError& error) {
    if (error) {
      on_failure(error);
      return;
    }
    connection_.on_connected();
    flush();
    read();
  });
}

void Peer::read() {
  stream_->read_some(
      buffer_, [this](const net::StreamError& error, std::size_t size) { on_read(error, size); });
}

void Peer::on_read(const net::StreamError& error, std::size_t size) {
  if (error) {
    on_failure(error);
    return;
  }
  const auto self = shared_from_this();  // a handler may drop us
  connection_.on_bytes({buffer_.data(), size}, loop_.now());
  deliver();
  if (!closed_) {
    read();
  }
}

void Peer::on_failure(const net::StreamError& error) {
  const auto self = shared_from_this();
  const errc code =
      error.kind == net::StreamError::Kind::tls ? errc::access_denied : errc::store_unavailable;
  connection_.on_closed({.code = code, .detail = error.detail}, stream_->unsent());
  deliver();
}

Failed Peer::silence() const {
  const Connection::Options& options = connection_.options();
  const std::string within = "no answer within " + duration_text(options.op_timeout);
  const std::string doing = stream_->doing();
  return doing.empty() ? failed_with(errc::store_unavailable, options.place, within)
                       : Failed{errc::store_unavailable, false, within + ", " + doing};
}

void Peer::send(Connection::Ask ask) {
  const bool alone = connection_.idle();
  connection_.send(std::move(ask));
  if (alone && !flush_posted_) {
    const Instant now = loop_.now();
    const bool lay_idle = now - std::exchange(used_at_, now) > idle_long;
    if (!lay_idle || !stream_->peer_is_gone()) {
      flush();
    }  // else the pending read tells, and the request goes to another connection
    arm();
  } else if (!flush_posted_) {
    flush_posted_ = true;
    loop_.post([weak = weak_from_this()] {
      if (const auto self = weak.lock(); self && !self->closed_) {
        self->flush_posted_ = false;
        self->flush();
        self->arm();
      }
    });
  }
}

void Peer::distrust(std::string_view what) {
  connection_.distrust(what);
  loop_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) {
      self->deliver();
    }
  });
}

void Peer::flush() {
  std::string& output = connection_.output();
  if (!output.empty() && !closed_) {
    stream_->write(output);
    output.clear();
  }
}

void Peer::deliver() {
  flush();
  if (!closed_ && connection_.state() == Connection::State::closed) {
    stream_->close();
  }
  while (!closed_ && connection_.has_events()) {
    for (Connection::Event& event : connection_.take_events()) {
      if (closed_) {
        return;
      }
      on_event_(*this, event);
    }
  }
  if (!closed_) {
    flush();
    arm();
  }
}

// The timer is moved only to an earlier time: one that fires too early finds nothing overdue, which
// costs less than moving it with every request.
void Peer::arm() {
  const Instant wanted = connection_.wake_at();
  if (wanted >= timer_at_ || closed_) {
    return;
  }
  loop_.cancel(timer_);
  timer_at_ = wanted;
  timer_ = loop_.call_at(wanted, [this] {
    const auto self = shared_from_this();
    timer_at_ = Instant::max();
    const Instant now = loop_.now();
    if (connection_.is_overdue(now)) {
      connection_.on_closed(silence(), 0);
    } else {
      connection_.on_time(now);
    }
    deliver();
  });
}

void Peer::close() noexcept {
  if (closed_) {
    return;
  }
  closed_ = true;
  loop_.cancel(timer_);
  stream_->close();
}

}  // namespace holdfast::redis
