// The fixture of the suite for the public face: two clients of one place, as two processes would
// be, on every store that runs on the real runtime.
#pragma once

#include <holdfast/holdfast.hpp>

#include "tests/conformance/place.hpp"
#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::conformance {

using namespace std::chrono_literals;

// Keeps what it is told, in the order of arrival.
class Recorder final : public Observer {
 public:
  void on_event(const Event& event) override;
  std::vector<Event> events() const;
  std::size_t count(Event::Kind kind) const;
  bool await(Event::Kind kind, std::size_t times = 1) const;

 private:
  mutable std::mutex mutex_{};
  std::vector<Event> events_{};
};

// An asynchronous acquire, awaited.
class Async {
 public:
  struct Answer {
    std::error_code code{};
    Lease lease{};
  };
  Async(Mutex& mutex, const Wait& wait)
      : Async([&](LeaseHandler handler) { return mutex.start_acquire(wait, std::move(handler)); }) {
  }
  // `start` is given the handler.
  explicit Async(UniqueFunction<Operation(LeaseHandler)> start);
  void cancel() { operation_.cancel(); }
  // Throws if the handler was not called within ten seconds.
  Answer get();
  bool ready() const { return answer_.wait_for(0s) == std::future_status::ready; }

 private:
  std::future<Answer> answer_{};
  Operation operation_{};
};

// Set when a lease is lost.
class Loss {
 public:
  explicit Loss(const Lease& lease);
  // When it was told; unset after five seconds.
  std::optional<Instant> await();
  bool told() const { return when_->load() != Instant{}; }

 private:
  using When = std::atomic<Instant>;
  std::shared_ptr<When> when_ = std::make_shared<When>();
  std::stop_callback<std::function<void()>> callback_;
};

class ClientTest : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override;

  Client& client() { return *client_; }
  Client& other() { return *other_; }
  Recorder& recorder() { return *recorder_; }  // of client()
  Place& place() { return *place_; }

  bool await_waiters(const std::string& name, std::size_t count);
  bool is_free(const std::string& name) { return other().inspect(name).holders.empty(); }
  // Client() is known to listen: what the store tells reaches it from now on.
  void listen();

 private:
  std::unique_ptr<Place> place_{};
  std::unique_ptr<Recorder> recorder_ = std::make_unique<Recorder>();
  std::optional<Client> client_{};
  std::optional<Client> other_{};
};

}  // namespace holdfast::conformance

#define HOLDFAST_ON_EVERY_CLIENT(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(On, suite,                                                          \
                           ::testing::ValuesIn(::holdfast::conformance::kinds_with_threads()), \
                           ::holdfast::conformance::kind_name)
