// Wakes the processes that wait for something in a lock file, without a server and without
// polling: whoever has news writes one byte to `<file>-wake`, and the kernel tells all who watch
// that file (inotify). What the news is stands in the table `wake`. Watching the -wal instead
// would wake everybody at every renewal and every beat.
#pragma once

#include "runtime/event_loop.hpp"

#include <holdfast/runtime.hpp>

#include <memory>
#include <string>
#include <utility>

namespace holdfast::sqlite {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  int get() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

// The writing side. A failure is no error: a wake-up is a hint, and waiters look by themselves
// every two seconds.
class WakeFile {
 public:
  // The file is made with the owner and mode of the database beside it.
  explicit WakeFile(std::string database_path);
  void touch() noexcept;

 private:
  bool is_current() const noexcept;
  std::string database_path_;
  std::string path_;
  Descriptor file_{};
};

// The watching side, on an EventLoop.
class WakeWatch {
 public:
  // Null if the kernel cannot watch: no inotify instance left, or no right to read the file.
  static std::unique_ptr<WakeWatch> start(EventLoop& loop, const std::string& database_path,
                                          UniqueFunction<void()> on_news);

  WakeWatch(std::string database_path, Descriptor inotify, UniqueFunction<void()> on_news);

 private:
  bool add();
  void read_events();

  std::string database_path_;
  Descriptor inotify_;
  int watched_ = -1;
  UniqueFunction<void()> on_news_;
  std::unique_ptr<EventLoop::Watch> watch_{};
};

}  // namespace holdfast::sqlite
