// A Notifier: threads that are started when all others are busy, at most 32, and stay. A callback
// that throws ends the program, as on any thread.
#pragma once

#include <holdfast/runtime.hpp>

#include <memory>

namespace holdfast {

class NotifierPool final : public Notifier {
 public:
  NotifierPool();
  ~NotifierPool() override;  // not from a callback of its own: a thread cannot join itself

  void post(UniqueFunction<void()> callback) override;
  void abandon_after_fork() noexcept override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast
