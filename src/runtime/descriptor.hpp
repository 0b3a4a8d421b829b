// A non-blocking file descriptor on an EventLoop: tells when it can be read or written. Whoever
// owns it does the reading and writing by itself, which saves what Asio's own operations cost.
#pragma once

#include <holdfast/function.hpp>

#include <cstdint>
#include <memory>

namespace holdfast {

class EventLoop;

// Only for the loop's thread. Callbacks may destroy the descriptor. In a forked child it is given
// up untouched: its place in the epoll set is the parent's as well.
class Descriptor {
 public:
  enum class Closing : std::uint8_t { ours, callers };

  // Makes `number` non-blocking. Throws std::system_error when it cannot be waited for (a regular
  // file); `number` is still the caller's then. With Closing::callers the caller closes it, after
  // this has gone.
  Descriptor(EventLoop& loop, int number, Closing closing);
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  int number() const noexcept;

  // What to call; set these before the first await. They may be replaced, but not by themselves.
  void on_readable(UniqueFunction<void()> callback);
  void on_writable(UniqueFunction<void()> callback);

  // Calls it once, as soon as a read (a write) would not block, or would fail. Never from inside
  // this call. Awaiting twice is awaiting once.
  void await_readable();
  void await_writable();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace holdfast
