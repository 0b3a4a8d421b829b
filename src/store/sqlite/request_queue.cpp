#include "store/sqlite/request_queue.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace holdfast::sqlite {

namespace {

constexpr Duration pause_min = std::chrono::microseconds{100};
constexpr Duration pause_max = std::chrono::milliseconds{8};

std::uint64_t seed_from(Runtime& runtime) {
  std::array<std::uint8_t, 8> bytes{};
  runtime.random_bytes(bytes);
  std::uint64_t seed = 0;
  std::memcpy(&seed, bytes.data(), bytes.size());
  return seed;
}

}  // namespace

RequestQueue::RequestQueue(Runtime& runtime, Duration op_timeout,
                           UniqueFunction<std::optional<Failed>()> explain)
    : runtime_(runtime),
      op_timeout_(op_timeout),
      explain_(std::move(explain)),
      random_(seed_from(runtime)),
      self_(std::make_shared<RequestQueue*>(this)) {}

void RequestQueue::submit(std::unique_ptr<Request> request) {
  waiting_.push_back({std::move(request), runtime_.now() + op_timeout_});
  if (waiting_.size() == 1 && timer_ == 0) {
    run();
  }
}

void RequestQueue::clear() noexcept {
  *self_ = nullptr;
  if (timer_ != 0) {
    runtime_.cancel(timer_);
    timer_ = 0;
  }
  waiting_.clear();
  answered_.clear();
}

void RequestQueue::run() {
  while (!waiting_.empty()) {
    if (!attempt(waiting_.front())) {
      timer_ = runtime_.call_at(runtime_.now() + pause(waiting_.front().tries), [this] {
        timer_ = 0;
        run();
      });
      return;
    }
    finish(std::move(waiting_.front().request));
    waiting_.pop_front();
  }
}

// False: the lock file was busy, and there is time left to try again.
bool RequestQueue::attempt(Waiting& waiting) {
  std::optional<Failed> failure;
  try {
    waiting.request->attempt();
    return true;
  } catch (...) {
    failure = explain_();
  }
  if (!failure && runtime_.now() < waiting.deadline) {
    ++waiting.tries;
    return false;
  }
  if (!failure) {
    failure = Failed{make_error_code(errc::store_unavailable), false,
                     "the lock file stayed busy for the whole op_timeout; look for a process that "
                     "keeps a transaction open in it"};
  }
  waiting.request->fail(std::move(*failure));
  return true;
}

void RequestQueue::finish(std::unique_ptr<Request> request) {
  answered_.push_back(std::move(request));
  if (!posted_) {
    posted_ = true;
    runtime_.post([self = self_] {
      if (*self != nullptr) {
        (*self)->deliver();
      }
    });
  }
}

// A handler may submit, close or destroy the store.
void RequestQueue::deliver() {
  posted_ = false;
  std::deque<std::unique_ptr<Request>> batch = std::move(answered_);
  answered_.clear();
  const auto self = self_;
  while (!batch.empty() && *self != nullptr) {
    const std::unique_ptr<Request> request = std::move(batch.front());
    batch.pop_front();
    request->deliver();
  }
}

std::uint64_t RequestQueue::chance() noexcept {
  random_ = random_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX generator
  return random_ >> 16U;
}

Duration RequestQueue::pause(unsigned tries) {
  const Duration full = std::min(pause_min * (1U << std::min(tries, 10U)), pause_max);
  return full / 2 +
         Duration{static_cast<std::int64_t>(chance() % static_cast<std::uint64_t>(full.count()))};
}

}  // namespace holdfast::sqlite
