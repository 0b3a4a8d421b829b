// One connection to Redis, as a pure machine: it is told the time and what the socket did, and
// says what to write and what came of each request. Opens no socket, keeps no timer.
//
//   Connection connection{options, now};
//   connection.on_connected();                 // -> output(): the handshake
//   connection.on_bytes(bytes, now);              // -> take_events(): ready
//   connection.send({request, deadline, handler});
//   write(connection.output()); …
//
//   state       what it takes       leaves it
//   connecting  nothing             on_connected, or closed at the deadline
//   handshake   nothing             all steps answered -> ready; a refusal or the deadline ->
//   closed ready       requests            a request without an answer in time -> suspect suspect
//   withdrawals only    all answered, or one more op_timeout -> closed closed      nothing -
//
// A request that timed out keeps its place: its late reply is read and dropped. A suspect
// connection stays open for a while because a frozen server executes what waits in its sockets: a
// withdrawal written behind an unanswered acquire is executed right after it.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/function.hpp>
#include <holdfast/types.hpp>

#include "store/redis/errors.hpp"
#include "store/redis/replica_acks.hpp"
#include "store/redis/request.hpp"
#include "store/redis/resp.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast::redis {

// A Reply here is never an error, unless the connection is told to hand those out.
using Outcome = std::variant<Reply, Failed>;

class Connection {
 public:
  struct Options {
    Place place{};
    std::string password{};
    int database = 0;
    std::string channel{};    // a wake-up channel: for the rights probe, or the one to subscribe to
    bool subscriber = false;  // listens to `channel` and takes no requests
    Duration op_timeout = std::chrono::seconds{2};
    bool must_be_primary = false;  // a replica is refused, also when it becomes one later
    ReplicaAcks acks{};
    bool raw_errors = false;  // an Outcome may be an error reply: the user judges it
  };

  struct Ask {
    Request request{};
    Instant deadline{};
    UniqueFunction<void(Outcome)> handler{};  // may be empty: nobody waits for the answer
    std::vector<OwnerId> acquires{};          // it may make these owners holders
    bool in_full = false;  // with the script's text: nobody will be there to send it again
    // Not null: an answer for which it is true counts only once enough replicas have acknowledged.
    bool (*needs_acks)(const Reply&) = nullptr;
  };

  struct Ready {};
  struct Answered {  // a request with a handler came to its end, one way or the other
    UniqueFunction<void(Outcome)> handler{};
    Outcome outcome{};
  };
  struct Unsent {  // a request that never left a connection that had been good
    Ask ask{};
  };
  struct Message {  // subscriber: what was published
    std::string payload{};
  };
  struct Suspect {};  // takes no new requests from now on
  struct Closed {     // the last event
    Failed why{};
    bool was_ready = false;
  };
  using Event = std::variant<Ready, Answered, Unsent, Message, Suspect, Closed>;

  enum class State : std::uint8_t { connecting, handshake, ready, suspect, closed };

  Connection(const Options& options, Instant now);

  const Options& options() const noexcept { return options_; }
  State state() const noexcept { return state_; }

  // Precondition: ready, or suspect for what must follow an unanswered acquire.
  void send(Ask ask);
  // True if an acquire of this owner was sent here and is unanswered.
  bool awaits(const OwnerId& owner) const noexcept;
  // It should be connected by now; only nobody ran its loop to say that it is not.
  bool is_overdue(Instant now) const noexcept {
    return (state_ == State::connecting || state_ == State::handshake) && now >= deadline_;
  }
  bool idle() const noexcept { return pending_.empty(); }

  void on_connected();
  void on_bytes(std::string_view bytes, Instant now);
  void on_time(Instant now);
  // The socket failed or was closed. Of what was written, the last `unsent` bytes never left.
  void on_closed(const Failed& why, std::size_t unsent);
  // Its user saw an answer that makes no sense: nothing read from here can be believed.
  void distrust(std::string_view what);

  std::string& output() noexcept { return output_; }  // whoever writes it clears it
  std::vector<Event> take_events() { return std::exchange(events_, {}); }
  bool has_events() const noexcept { return !events_.empty(); }
  Instant wake_at() const noexcept { return wake_at_; }  // call on_time() then; never: Instant::max

 private:
  enum class Step : std::uint8_t { auth, select, role, probe, subscribe };
  struct Pending {
    Ask ask{};
    std::uint64_t end = 0;   // how many bytes had been written when the last of it was
    bool abandoned = false;  // its handler was told; only its place is kept
    bool is_wait = false;    // the WAIT behind a request that needs acknowledgements
    Reply answer{};          // of that request, if it does
  };

  void write(const Request& request, bool in_full);
  void send_wait(Instant deadline);
  std::uint32_t acks_wanted() const noexcept;
  void on_reply(Reply reply, Instant now);
  void on_answer(Pending done, Reply reply);
  void on_acknowledged(Pending wait, const Reply& reply);
  void count_replicas(const Reply& role);
  void on_step_reply(const Reply& reply, Instant now);
  void on_push(const Reply& reply, Instant now);
  std::optional<Failed> step_failure(Step step, const Reply& reply) const;
  void become_suspect(Instant now);
  void close(const Failed& why, std::size_t unsent = 0);
  void expire_overdue(Instant now);
  void ping_if_quiet(Instant now);
  void schedule();

  const Options& options_;
  State state_ = State::connecting;
  bool was_ready_ = false;
  Instant deadline_;   // of connecting, the handshake, the suspect state, or a ping's answer
  Instant ping_at_{};  // subscriber: when silence is checked
  bool ping_sent_ = false;
  Instant wake_at_{};
  std::deque<Step> steps_{};  // handshake steps without an answer
  std::deque<Pending> pending_{};
  std::size_t acquires_ = 0;    // how many of pending_ are acquires
  std::uint32_t replicas_ = 0;  // that the server had when the connection was made
  std::uint64_t written_ = 0;
  std::string output_{};
  RespReader reader_{};
  std::vector<Event> events_{};
};

}  // namespace holdfast::redis
