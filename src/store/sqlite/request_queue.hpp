// Runs a store's verbs one after the other on its runtime's thread. A verb that meets another
// process's write lock is tried again by a timer, after short random waits, until op_timeout:
// "database is locked" never reaches a caller.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/runtime.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::sqlite {

// One verb on its way.
class Request {
 public:
  Request() = default;
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  virtual ~Request() = default;

  virtual void attempt() = 0;             // throws what went wrong; may be called again after busy
  virtual void fail(Failed failure) = 0;  // what the answer will be instead
  virtual void deliver() = 0;             // hands the answer to the caller
};

// A verb whose answer can hold a Failed.
template <class Reply>
class SimpleRequest final : public Request {
 public:
  SimpleRequest(UniqueFunction<Reply()> step, UniqueFunction<void(Reply)> done)
      : step_(std::move(step)), done_(std::move(done)) {}

  void attempt() override { reply_ = step_(); }
  void fail(Failed failure) override { reply_ = Reply{std::move(failure)}; }
  void deliver() override { done_(std::move(reply_)); }

 private:
  UniqueFunction<Reply()> step_;
  UniqueFunction<void(Reply)> done_;
  Reply reply_{Failed{}};
};

class RequestQueue {
 public:
  // `explain` turns the exception being handled into an answer; nullopt: busy, try again.
  RequestQueue(Runtime& runtime, Duration op_timeout,
               UniqueFunction<std::optional<Failed>()> explain);
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;
  ~RequestQueue() { clear(); }

  // Runs it now if nothing waits before it. Answers are delivered by a post, never from inside.
  void submit(std::unique_ptr<Request> request);
  // Destroys everything undelivered.
  void clear() noexcept;

  // Any number, for what has to be spread and nothing else.
  std::uint64_t chance() noexcept;

 private:
  struct Waiting {
    std::unique_ptr<Request> request;
    Instant deadline;
    unsigned tries = 0;
  };

  void run();
  bool attempt(Waiting& waiting);
  void finish(std::unique_ptr<Request> request);
  void deliver();
  Duration pause(unsigned tries);

  Runtime& runtime_;
  Duration op_timeout_;
  UniqueFunction<std::optional<Failed>()> explain_;
  std::uint64_t random_;
  std::deque<Waiting> waiting_{};
  std::deque<std::unique_ptr<Request>> answered_{};
  Runtime::TimerId timer_ = 0;
  bool posted_ = false;
  std::shared_ptr<RequestQueue*> self_;  // empty pointer inside once this is gone or cleared
};

}  // namespace holdfast::sqlite
