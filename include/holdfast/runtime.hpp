// holdfast/runtime.hpp: time, timers and chance, as the engine and the stores see them. Needed by
// those who write a store. Production: src/runtime (an event loop). Simulation: virtual time.
#pragma once

#include <holdfast/function.hpp>
#include <holdfast/types.hpp>

#include <memory>
#include <span>

namespace holdfast {

// One thread's world. Everything but post(), post_by() and now() is for that thread only.
class Runtime {
 public:
  using TimerId = std::uint64_t;  // never zero, never reused

  Runtime() = default;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  virtual Instant now() const = 0;

  // Runs `callback` once, at `when` or soon after, never from inside this call, unless cancelled.
  // Equal instants run in the order of the calls.
  virtual TimerId call_at(Instant when, UniqueFunction<void()> callback) = 0;
  virtual void cancel(TimerId timer) noexcept = 0;  // unknown or fired: no effect

  // Thread-safe. Runs `callback` soon, in the order of the posts. Must not be dropped while the
  // runtime runs; what is still queued when it ends is destroyed unrun.
  virtual void post(UniqueFunction<void()> callback) = 0;

  // Thread-safe. As post(), but may be put off until `latest` to save a wake-up; it still runs
  // before any callback posted later.
  virtual void post_by(Instant latest, UniqueFunction<void()> callback) = 0;

  // Fills `bytes` from the kernel (in the simulator: from the seed).
  virtual void random_bytes(std::span<std::uint8_t> bytes) = 0;
};

// A Runtime that a calling thread runs by itself until its work is done.
class Lane : public Runtime {
 public:
  // Runs callbacks until `done()` is true; it is asked after every callback. Not reentrant.
  virtual void run_until(UniqueFunction<bool()> done) = 0;
};

// A Runtime with a thread of its own.
class Loop {
 public:
  Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  virtual ~Loop() = default;  // stop()

  virtual Runtime& runtime() = 0;
  virtual void stop() noexcept = 0;  // ends the thread and joins it. Idempotent. Not on the loop

  // In a forked child, where the thread does not exist: gives up all that is owned, touching
  // neither thread nor descriptors that the parent uses.
  virtual void abandon_after_fork() noexcept = 0;
};

// Runs user code (stop callbacks, handlers, observers) off the loop, never under a mutex. One
// thread, and more while callbacks block, at most 32. Callbacks of one Notifier may run at once.
class Notifier {
 public:
  Notifier() = default;
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  virtual ~Notifier() = default;  // runs what was posted, then joins

  virtual void post(UniqueFunction<void()> callback) = 0;  // thread-safe
  virtual void abandon_after_fork() noexcept = 0;
};

// Where a client gets its threads and lanes from.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  virtual std::unique_ptr<Loop> start_loop() = 0;
  virtual std::unique_ptr<Lane> make_lane() = 0;
  virtual std::unique_ptr<Notifier> make_notifier() = 0;
};

}  // namespace holdfast
