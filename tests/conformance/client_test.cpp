#include "tests/conformance/client_test.hpp"

#include "runtime/host.hpp"
#include "tests/support/required.hpp"

#include <stdexcept>

namespace holdfast::conformance {

void Recorder::on_event(const Event& event) {
  const std::lock_guard lock{mutex_};
  events_.push_back(event);
}

std::vector<Event> Recorder::events() const {
  const std::lock_guard lock{mutex_};
  return events_;
}

std::size_t Recorder::count(Event::Kind kind) const {
  const std::lock_guard lock{mutex_};
  return static_cast<std::size_t>(std::ranges::count(events_, kind, &Event::kind));
}

bool Recorder::await(Event::Kind kind, std::size_t times) const {
  return test::eventually([&] { return count(kind) >= times; });
}

Async::Async(UniqueFunction<Operation(LeaseHandler)> start) {
  auto promise = std::make_shared<std::promise<Answer>>();
  answer_ = promise->get_future();
  operation_ = start([promise](std::error_code code, Lease lease) {
    promise->set_value({code, std::move(lease)});
  });
}

Async::Answer Async::get() {
  if (answer_.wait_for(10s) != std::future_status::ready) {
    throw std::runtime_error{"the handler was never called"};
  }
  return answer_.get();
}

Loss::Loss(const Lease& lease)
    : callback_(lease.lost(), [when = when_] { when->store(BootClock::now()); }) {}

std::optional<Instant> Loss::await() {
  const bool is_told = test::eventually([this] { return told(); }, 5s);
  return is_told ? std::optional{when_->load()} : std::nullopt;
}

void ClientTest::SetUp() {
  const std::string kind = GetParam().name.substr(0, GetParam().name.find('_'));
  HOLDFAST_NEEDS(kind, GetParam().why_not.empty(), GetParam().why_not);
  place_ = GetParam().make();
  const std::shared_ptr<Host> host = make_host();
  client_.emplace(place_->factory(), host,
                  ClientOptions{.password = {}, .host = "here", .observer = recorder_.get()});
  other_.emplace(place_->factory_elsewhere(), host,
                 ClientOptions{.password = {}, .host = "there", .observer = nullptr});
}

bool ClientTest::await_waiters(const std::string& name, std::size_t count) {
  return test::eventually([&] { return other().inspect(name).waiters.size() == count; });
}

void ClientTest::listen() {
  Mutex mutex{client(), "listening"};
  if (Async{mutex, {}}.get().code) {
    throw std::runtime_error{"not granted"};
  }
}

}  // namespace holdfast::conformance
