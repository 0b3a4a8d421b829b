// The queries of one store and the session that runs them, one after the other. Connects at the
// first query. A query that got no answer in time ends its session, because all that follows would
// wait behind it; the next goes to a new one.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include "store/postgres/session.hpp"
#include "store/postgres/settings.hpp"

#include <deque>
#include <memory>
#include <variant>

namespace holdfast {
class EventLoop;
}

namespace holdfast::postgres {

class Link {
 public:
  using Answer = std::variant<Table, Failed>;
  using Handler = UniqueFunction<void(Answer)>;

  // `special`: what each session must be, and what it runs before anything else.
  struct Special {
    const char* setup = nullptr;
    bool refuse_poolers = false;
  };
  // The target must outlive it.
  Link(EventLoop& loop, const Target& target, Duration op_timeout);
  Link(EventLoop& loop, const Target& target, Duration op_timeout, const Special& special);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  // Once connected, stays so without being asked, and calls `remade` after each new connection that
  // took the place of a lost one.
  void keep_connected(UniqueFunction<void()> remade);
  // Called with each new session before any query runs on it; null: it is ended.
  void on_session(UniqueFunction<void(const Session*)> told) { told_ = std::move(told); }

  // `handler` is called once, never from inside, at the latest at `deadline`.
  void send(Query query, Instant deadline, Handler handler);

  const Session* session() const noexcept { return session_.get(); }
  void drop_session();    // it may have another session's memory; the next query gets a new one
  void close() noexcept;  // nothing may follow; handlers still pending are destroyed uncalled

 private:
  struct Ask {
    Query query{};
    Instant deadline{};
    Handler handler{};
    int tries = 0;
  };

  void connect_when_due();
  void connect();
  void pump();
  void on_ready();
  void on_failed(const Failed& why);
  void on_outcome(Outcome outcome);
  void end_session();
  void reconnect_if_wanted();
  void arm();
  void on_deadline();

  EventLoop& loop_;
  const Target& target_;
  const Duration op_timeout_;
  const Special special_;
  const std::string place_;
  UniqueFunction<void()> remade_{};
  UniqueFunction<void(const Session*)> told_{};
  std::shared_ptr<Session> session_{};
  std::deque<Ask> asks_{};  // the first of them is on its way if `in_flight_`
  bool in_flight_ = false;
  bool session_was_ready_ = false;
  bool was_connected_ = false;
  std::optional<Failed> last_failure_{};
  Duration retry_delay_{};
  Instant next_try_{};
  Runtime::TimerId retry_timer_ = 0;
  Runtime::TimerId deadline_timer_ = 0;
  bool closed_ = false;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // gone: a handler destroyed us
};

}  // namespace holdfast::postgres
