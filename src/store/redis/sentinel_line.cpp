#include "store/redis/sentinel_line.hpp"

#include "base/duration_text.hpp"
#include "runtime/event_loop.hpp"

#include <utility>

namespace holdfast::redis {

namespace {

constexpr Duration quiet_max = std::chrono::seconds{5};

}  // namespace

std::shared_ptr<SentinelLine> SentinelLine::open(EventLoop& loop, Options options,
                                                 Handler handler) {
  auto line =
      std::make_shared<SentinelLine>(ByOpen{}, loop, std::move(options), std::move(handler));
  line->start();
  return line;
}

SentinelLine::SentinelLine(ByOpen /*key*/, EventLoop& loop, Options options, Handler handler)
    : loop_(loop),
      options_(std::move(options)),
      handler_(std::move(handler)),
      stream_(net::make_stream(loop, options_.endpoint)) {}

SentinelLine::~SentinelLine() { close(); }

void SentinelLine::close() noexcept {
  if (!std::exchange(closed_, true)) {
    loop_.cancel(timer_);
    stream_->close();
  }
}

void SentinelLine::start() {
  arm(options_.timeout);
  stream_->connect([this](const net::StreamError& error) {
    if (error) {
      const bool refused = error.kind == net::StreamError::Kind::tls;
      fail(refused ? errc::access_denied : errc::store_unavailable, error.detail);
      return;
    }
    std::string bytes;
    if (!options_.password.empty()) {
      authenticating_ = true;
      bytes = options_.user.empty() ? encode({"AUTH", options_.password})
                                    : encode({"AUTH", options_.user, options_.password});
    }
    stream_->write(bytes + options_.commands);
    read();
  });
}

void SentinelLine::read() {
  stream_->read_some(buffer_, [this](const net::StreamError& error, std::size_t size) {
    const auto self = shared_from_this();  // a handler may drop us
    if (error) {
      fail(errc::store_unavailable, error.detail);
      return;
    }
    on_bytes({buffer_.data(), size});
    if (!closed_) {
      read();
    }
  });
}

void SentinelLine::on_bytes(std::string_view bytes) {
  reader_.feed(bytes);
  while (!closed_) {
    auto reply = reader_.next();
    if (!reply) {
      break;
    }
    on_reply(*std::move(reply));
  }
  if (!closed_ && reader_.violated()) {
    fail(errc::store_unavailable, options_.endpoint.text() +
                                      ": the answer is not of the Redis protocol (" +
                                      reader_.why() + ")");
  }
}

void SentinelLine::on_reply(Reply reply) {
  if (std::exchange(authenticating_, false)) {
    if (reply.is_error()) {
      fail(errc::access_denied, options_.endpoint.text() + ": wrong user name or password");
    }
    return;
  }
  if (reply.error().starts_with("NOAUTH")) {
    fail(errc::access_denied, options_.endpoint.text() +
                                  ": a password is needed; one for Sentinel itself is given by "
                                  "sentinel_password_file=");
    return;
  }
  heard_ = true;
  ping_sent_ = false;
  arm(options_.listens ? quiet_max : options_.timeout);
  handler_(std::move(reply));
}

void SentinelLine::fail(errc code, const std::string& what) {
  if (closed_) {
    return;
  }
  const auto self = shared_from_this();
  close();
  handler_(Failed{code, false, what});
}

void SentinelLine::arm(Duration time) {
  loop_.cancel(timer_);
  timer_ = loop_.call_at(loop_.now() + time, [this] { on_time(); });
}

void SentinelLine::on_time() {
  if (options_.listens && heard_ && !ping_sent_) {
    ping_sent_ = true;
    stream_->write(encode({"PING"}));
    arm(options_.timeout);
    return;
  }
  fail(errc::store_unavailable,
       options_.endpoint.text() + ": no answer within " + duration_text(options_.timeout));
}

}  // namespace holdfast::redis
