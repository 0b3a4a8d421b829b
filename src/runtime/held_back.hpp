// Requests that wait for wake-ups to be heard before they are sent: until that is settled, one way
// or the other, or until their own time is up.
#pragma once

#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include <memory>
#include <vector>

namespace holdfast {

class HeldBack {
 public:
  explicit HeldBack(Runtime& runtime) : runtime_(runtime) {}
  HeldBack(const HeldBack&) = delete;
  HeldBack& operator=(const HeldBack&) = delete;
  ~HeldBack() { clear(); }

  // `go` is called once: by release(), or at `latest`.
  void add(Instant latest, UniqueFunction<void()> go);
  // May end in the destruction of this.
  void release() { release(false); }
  void clear() noexcept;

  // True once after something went before it was settled: what it was to hear may be missed.
  bool take_went_unheard() noexcept;

 private:
  struct One {
    Instant latest{};
    UniqueFunction<void()> go{};
  };
  void release(bool overdue_only);
  void arm();

  Runtime& runtime_;
  std::vector<One> waiting_{};
  Runtime::TimerId timer_ = 0;
  bool went_unheard_ = false;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace holdfast
