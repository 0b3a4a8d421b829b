// One connection that says a few commands and hears what comes back: to a sentinel, whose protocol
// is Redis' and whose commands are not, or to a replica that is asked for its role.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>
#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include "net/stream.hpp"
#include "store/redis/resp.hpp"

#include <array>
#include <memory>
#include <string>
#include <variant>

namespace holdfast {
class EventLoop;
}

namespace holdfast::redis {

class SentinelLine : public std::enable_shared_from_this<SentinelLine> {
  struct ByOpen {};  // only open() makes one, so that it is always shared

 public:
  struct Options {
    net::Endpoint endpoint{};
    std::string user{};
    std::string password{};  // empty: no AUTH
    std::string commands{};  // as bytes
    // The first reply comes within this. So does, of a line that `listens`, the answer to a PING
    // after a time of silence.
    Duration timeout{};
    bool listens = false;
  };
  using News = std::variant<Reply, Failed>;  // Failed is the last
  using Handler = UniqueFunction<void(News)>;

  // Handlers are called on the loop, never from inside a call, and may close this line.
  static std::shared_ptr<SentinelLine> open(EventLoop& loop, Options options, Handler handler);
  SentinelLine(ByOpen key, EventLoop& loop, Options options, Handler handler);
  SentinelLine(const SentinelLine&) = delete;
  SentinelLine& operator=(const SentinelLine&) = delete;
  ~SentinelLine();

  void close() noexcept;

 private:
  void start();
  void read();
  void on_bytes(std::string_view bytes);
  void on_reply(Reply reply);
  void fail(errc code, const std::string& what);
  void arm(Duration time);
  void on_time();

  EventLoop& loop_;
  Options options_;
  Handler handler_;
  std::unique_ptr<net::Stream> stream_;
  RespReader reader_{};
  bool authenticating_ = false;
  bool heard_ = false;
  bool ping_sent_ = false;
  bool closed_ = false;
  Runtime::TimerId timer_ = 0;
  std::array<char, 4096> buffer_{};
};

}  // namespace holdfast::redis
