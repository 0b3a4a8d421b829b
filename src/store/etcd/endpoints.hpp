// Which of several endpoints is asked: the one that answered last, the next one after a failure.
// Pure.
//
//   Endpoints endpoints{3};
//   const std::size_t used = endpoints.current();
//   endpoints.failed(used);  // the next request goes elsewhere
#pragma once

#include <cstddef>

namespace holdfast::etcd {

class Endpoints {
 public:
  explicit Endpoints(std::size_t count) noexcept : count_(count) {}  // at least one

  std::size_t current() const noexcept { return current_; }

  // A request to `used` was not answered. True: others will be asked from now on. Late words of an
  // endpoint that was left already change nothing.
  bool failed(std::size_t used) noexcept {
    if (used != current_ || count_ == 1) {
      return false;
    }
    current_ = (current_ + 1) % count_;
    return true;
  }

 private:
  std::size_t count_;
  std::size_t current_ = 0;
};

}  // namespace holdfast::etcd
