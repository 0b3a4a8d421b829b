#include "store/sqlite/crowd.hpp"

namespace holdfast::sqlite {

std::optional<Crowd::Known> Crowd::known_file() const {
  const std::scoped_lock lock(mutex_);
  return file_;
}

bool Crowd::agrees_on(const Known& file) {
  const std::scoped_lock lock(mutex_);
  if (!file_) {
    file_ = file;
  }
  return file_ == file;
}

void Crowd::note_waiter(const OwnerId& owner) {
  const std::scoped_lock lock(mutex_);
  bool& waits = owners_[owner];
  waiters_ += waits ? 0 : 1;
  waits = true;
}

void Crowd::note_holder(const OwnerId& owner) {
  const std::scoped_lock lock(mutex_);
  bool& waits = owners_[owner];
  waiters_ -= waits ? 1 : 0;
  waits = false;
}

void Crowd::forget(const OwnerId& owner) {
  const std::scoped_lock lock(mutex_);
  const auto entry = owners_.find(owner);
  if (entry != owners_.end()) {
    waiters_ -= entry->second ? 1 : 0;
    owners_.erase(entry);
  }
}

void Crowd::forget_holder(const OwnerId& owner) {
  const std::scoped_lock lock(mutex_);
  const auto entry = owners_.find(owner);
  if (entry != owners_.end() && !entry->second) {
    owners_.erase(entry);
  }
}

bool Crowd::concerns(const OwnerId& owner) const {
  const std::scoped_lock lock(mutex_);
  return owners_.contains(owner);
}

bool Crowd::has_waiters() const {
  const std::scoped_lock lock(mutex_);
  return waiters_ != 0;
}

void Crowd::set_listener(Runtime& runtime, std::weak_ptr<Listener> listener) {
  const std::scoped_lock lock(mutex_);
  runtime_ = &runtime;
  listener_ = std::move(listener);
}

void Crowd::drop_listener(const Runtime& runtime) {
  const std::scoped_lock lock(mutex_);
  if (runtime_ == &runtime) {
    runtime_ = nullptr;
    listener_.reset();
  }
}

bool Crowd::rouse_listener() {
  const std::scoped_lock lock(mutex_);
  if (runtime_ == nullptr) {
    return false;
  }
  runtime_->post([listener = listener_] {
    if (const auto alive = listener.lock()) {
      alive->start_listening();
    }
  });
  return true;
}

}  // namespace holdfast::sqlite
