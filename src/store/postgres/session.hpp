// One connection to PostgreSQL, driven without blocking: finds an address that lets us in, looks at
// what is behind it, installs the schema where it is missing, and then runs one query at a time.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include "net/resolver.hpp"
#include "runtime/descriptor.hpp"
#include "runtime/made_here.hpp"
#include "store/postgres/settings.hpp"
#include "store/postgres/table.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast {
class EventLoop;
}

namespace holdfast::postgres {

class Session : public std::enable_shared_from_this<Session> {
  struct ByStart {};  // only start() makes one, so that it is always shared

 public:
  struct Plan {
    const Target* target = nullptr;  // must outlive the session
    Duration timeout{};              // for all of the addresses together
    bool install = true;             // false: the schema is of no concern
    const char* setup = nullptr;     // statements that come first
    bool refuse_poolers = false;
  };
  // Called on the loop, never from inside a call; each may close or drop the session.
  struct Events {
    UniqueFunction<void()> ready{};
    UniqueFunction<void(const Failed&)> failed{};  // once, instead of ready or after it
    UniqueFunction<void(std::string_view)> notified{};
  };

  static std::shared_ptr<Session> start(EventLoop& loop, const Plan& plan, Events events);
  Session(ByStart key, EventLoop& loop, const Plan& plan, Events events);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  bool is_ready() const noexcept { return ready_; }
  bool is_idle() const noexcept { return ready_ && !done_; }
  // Somebody between us and the server hands our statements to sessions of its choice.
  bool is_pooled() const noexcept { return pooled_; }
  int server_version() const;  // as 150020
  std::string address() const { return address_; }

  // False if the server has hung up already; nothing was sent then. Precondition: is_idle().
  bool run(const Query& query, UniqueFunction<void(Outcome)> done);

  void close() noexcept;  // no event comes any more

 private:
  struct Candidate {
    Target::Host host{};
    std::string address{};  // numeric; empty: a local socket
  };
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };

  void resolve_next();
  void try_next();
  void poll();
  void watch(PostgresPollingStatusType wants);
  void give_up_candidate();
  void probe();
  void on_probed(Outcome outcome);
  void install();
  void set_up();
  void become_ready();
  void fail(Failed why);
  void on_readable();
  void flush();
  void take_results();
  Outcome outcome_of(PGresult* result) const;

  EventLoop& loop_;
  Plan plan_;
  Events events_;
  MadeHere made_here_{};
  Instant give_up_at_{};
  std::size_t resolved_ = 0;  // hosts looked up
  std::unique_ptr<net::Resolver> resolver_{};
  std::vector<Candidate> candidates_{};
  std::size_t tried_ = 0;
  std::string address_{};
  std::unique_ptr<PGconn, Finish> connection_{};
  std::unique_ptr<Descriptor> descriptor_{};
  Runtime::TimerId timer_ = 0;
  std::optional<Failed> last_failure_{};
  UniqueFunction<void(Outcome)> done_{};
  std::optional<Outcome> outcome_{};
  bool pooled_ = false;
  bool ready_ = false;
  bool closed_ = false;
};

}  // namespace holdfast::postgres
