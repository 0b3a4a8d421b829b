#include "store/cluster/hub.hpp"

#include <utility>

namespace holdfast::cluster {

void Hub::join(Runtime& runtime, UniqueFunction<void(const Address&)> watch) {
  const std::lock_guard lock{mutex_};
  runtime_ = &runtime;
  watch_ = std::make_shared<Watch>(std::move(watch));
  for (const Address& node : std::exchange(before_, {})) {
    post(node);
  }
}

void Hub::leave() noexcept {
  const std::lock_guard lock{mutex_};
  runtime_ = nullptr;
  watch_.reset();  // what is posted already finds it gone
}

void Hub::depends_on(const Address& node) {
  const std::lock_guard lock{mutex_};
  if (runtime_ != nullptr) {
    post(node);
  } else {
    before_.insert(node);
  }
}

void Hub::post(const Address& node) {
  runtime_->post([weak = std::weak_ptr<Watch>(watch_), node] {
    if (const auto watch = weak.lock()) {
      (*watch)(node);
    }
  });
}

}  // namespace holdfast::cluster
