// Brings what happens on other threads to the wrapper's one waiting place.
#pragma once

#include <holdfast/lease.hpp>
#include <holdfast/observer.hpp>

#include "cli/descriptor.hpp"

#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <variant>

namespace holdfast::cli {

// How an acquire ended: with a lease, or with an exception.
struct Acquired {
  Lease lease{};
  std::exception_ptr error{};
};
using Happening = std::variant<Event, Acquired>;

// Thread-safe. descriptor() is readable while something may be queued.
class EventQueue final : public Observer {
 public:
  EventQueue();  // throws std::system_error

  void on_event(const Event& event) override;
  void push(Happening happening);
  std::optional<Happening> pop();

  int descriptor() const noexcept { return signal_.get(); }

 private:
  Descriptor signal_;
  std::mutex mutex_{};
  std::deque<Happening> queue_{};
};

}  // namespace holdfast::cli
