// A Loop: one EventLoop and the thread that runs it.
#pragma once

#include <holdfast/runtime.hpp>

#include <memory>

namespace holdfast {

class LoopThread final : public Loop {
 public:
  LoopThread();  // throws std::system_error when there is no thread to be had
  ~LoopThread() override;

  Runtime& runtime() override;
  void stop() noexcept override;
  void abandon_after_fork() noexcept override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast
