// A stream that a test drives in straight lines: each call runs the loop until it is done. Also
// peers that misbehave: one that accepts nothing, one that never answers.
#pragma once

#include "net/stream.hpp"
#include "runtime/event_loop.hpp"

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::test {

class NetClient {
 public:
  NetClient(EventLoop& loop, net::Endpoint endpoint);

  net::StreamError connect();                                         // Kind::none when it worked
  std::optional<net::StreamError> connect_within(Duration patience);  // none: still trying
  std::string ask(std::string_view request);                          // write, then read_line()
  std::string read_line();        // to the first "\r\n"; the error's text if none
  net::StreamError read_error();  // reads until something goes wrong

  net::Stream& stream() noexcept { return *stream_; }
  std::span<char> buffer() noexcept { return buffer_; }

 private:
  net::StreamError read_once();

  EventLoop& loop_;
  std::unique_ptr<net::Stream> stream_;
  std::array<char, 4096> buffer_{};
  std::string received_{};
};

// A TCP port that listens but whose queue is full: a SYN to it gets no answer at all.
class DeafListener {
 public:
  explicit DeafListener(const std::string& address, std::uint16_t port = 0);
  DeafListener(const DeafListener&) = delete;
  DeafListener& operator=(const DeafListener&) = delete;
  ~DeafListener();
  std::uint16_t port() const noexcept { return port_; }

 private:
  int listener_ = -1;
  std::array<int, 8> fillers_{};
  std::uint16_t port_ = 0;
};

// A socket of the loopback that takes what comes and never answers: a TCP server that accepts in
// the kernel only, or a name server (UDP).
class SilentPeer {
 public:
  enum class Protocol { tcp, udp };
  explicit SilentPeer(Protocol protocol);
  SilentPeer(const SilentPeer&) = delete;
  SilentPeer& operator=(const SilentPeer&) = delete;
  ~SilentPeer();
  std::uint16_t port() const noexcept { return port_; }
  std::string place() const { return "127.0.0.1:" + std::to_string(port_); }
  void answer(std::string_view bytes);  // breaks the silence of the first connection (TCP)

 private:
  int socket_ = -1;
  int answered_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace holdfast::test
