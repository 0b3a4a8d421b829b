#include "cli/split_brain.hpp"

#include <holdfast/guard.hpp>
#include <holdfast/holdfast.hpp>

#include "base/duration_text.hpp"
#include "cli/descriptor.hpp"
#include "cli/exit_code.hpp"
#include "cli/forwarder.hpp"
#include "cli/sentinel_stage.hpp"
#include "cli/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <sys/socket.h>

#include <array>
#include <future>
#include <iomanip>
#include <iostream>
#include <string>

namespace holdfast::cli {

namespace {

constexpr Duration ttl = std::chrono::seconds{30};
constexpr Duration patience = std::chrono::seconds{10};
constexpr const char* naive_set = "SET naive:job %s NX PX 30000";

std::string naive(const std::string& owner) {
  std::string words = naive_set;
  return words.replace(words.find("%s"), 2, owner);
}

// A command that is on its way to a server which does not read.
class CommandInTheSocket {
 public:
  CommandInTheSocket(const RedisProcess& server, const std::string& words)
      : socket_(connect_to_loopback(server.port())) {
    const std::string request = words + "\r\n";
    send(socket_.get(), request.data(), request.size(), MSG_NOSIGNAL);
  }
  std::string answer() const {
    std::array<char, 64> bytes{};
    const ssize_t size = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    return {bytes.data(), static_cast<std::size_t>(size > 0 ? size : 0)};
  }

 private:
  Descriptor socket_;
};

class SplitBrain {
 public:
  explicit SplitBrain(bool json) : json_(json), stage_(folder_.path()), url_(stage_.url()) {}

  int play() {
    say("A primary, a replica, three sentinels. Replication lags, and the primary freezes.");
    lose_the_lock();
    ask_for_acknowledgement();
    require_replicas();
    if (json_) {
      facts_["as_told"] = as_told_;
      std::cout << facts_.dump() << '\n';
    } else {
      std::cout << (as_told_ ? "\nAll of it happened as told.\n"
                             : "\nNot all of it happened as told: see above.\n");
    }
    return as_told_ ? exit_ok : exit_failed;
  }

 private:
  void say(const std::string& what) const {
    if (!json_) {
      const Duration at = BootClock::now() - begin_;
      std::cout << "  " << std::fixed << std::setprecision(3) << std::setw(7)
                << std::chrono::duration<double>{at}.count() << " s  " << what << std::endl;
    }
  }
  // A fact by its name in the JSON, and what is said of it.
  void check(const char* fact, bool happened, const std::string& what) {
    facts_[fact] = happened;
    as_told_ = as_told_ && happened;
    say((happened ? "" : "NOT SO: ") + what);
  }

  void lose_the_lock() {
    Client first{url_};
    Client second{url_};
    Mutex mine{first, "job", {.ttl = ttl}};
    Mutex theirs{second, "job", {.ttl = ttl}};
    Mutex{first, "warm-up"}.acquire({.timeout = patience}).release();
    stage_.cut_replication();
    Lease lease = mine.acquire({.timeout = patience});
    std::promise<Instant> told;
    const std::stop_callback on_lost{lease.lost(), [&] { told.set_value(BootClock::now()); }};
    const bool naive_held = stage_.primary().ask(naive("A")).starts_with("+OK");
    say("A holds the lock \"job\" (fence " + std::to_string(to_int(lease.fence())) +
        "); a SET NX client holds its own");

    stage_.primary().freeze();
    const CommandInTheSocket waiting{stage_.primary(), "SET late:job C NX PX 30000"};
    say("the primary is frozen; C's SET NX waits in its socket");
    stage_.freeze_primary_until_promotion();
    const Instant promoted = BootClock::now();
    say("the replica is promoted: it takes writes");

    check("naive_has_two_holders",
          naive_held && stage_.primary().ask(naive("B")).starts_with("+OK"),
          "SET NX client: B gets the lock that A still believes in, and nobody tells A");
    auto lost = told.get_future();
    const bool heard = lost.wait_for(patience) == std::future_status::ready;
    const Duration after = heard ? lost.get() - promoted : patience;
    facts_["told_after_ms"] = std::chrono::duration<double, std::milli>{after}.count();
    facts_["next_renewal_after_ms"] =
        std::chrono::duration<double, std::milli>{std::min<Duration>(ttl / 3, patience)}.count();
    check("holder_is_told", heard && lease.why_lost() == errc::taken,
          "holdfast: A is told that its lock is lost, " + duration_text(after) +
              " after the promotion; at its next renewal it would be up to " +
              duration_text(std::min<Duration>(ttl / 3, patience)));
    const Lease next = theirs.acquire({.timeout = patience});
    check("fence_rises", next.fence() > lease.fence(),
          "holdfast: B gets the lock with fence " + std::to_string(to_int(next.fence())));
    guard_the_data(lease, next);

    stage_.thaw_old_primary();
    check("late_ok", waiting.answer().starts_with("+OK"),
          "the old primary goes on and answers C's SET NX with OK: C holds a lock of the past");
  }

  void guard_the_data(const Lease& old, const Lease& next) {
    MemoryGuard guard;
    guard.admit("ledger", next.name(), next.fence(), next.floor());
    std::error_code code;
    guard.admit("ledger", old.name(), old.fence(), old.floor(), code);
    check("guard_refuses", code == errc::stale_fence,
          "the guard refuses A's late write: its fence is lower than B's");
  }

  void ask_for_acknowledgement() {
    Client client{url_ + "?replica_acks=1&replica_timeout=200ms"};
    check("acks_refuse", grants_only_with_a_replica(client, std::chrono::seconds{1}),
          "replica_acks=1: a grant that no replica has is withdrawn, so it cannot be lost");
    stage_.restore_replication();
  }

  void require_replicas() {
    stage_.primary().ask("CONFIG SET min-replicas-to-write 1");
    Client client{url_};
    check("min_replicas_refuse", grants_only_with_a_replica(client, std::chrono::milliseconds{300}),
          "min-replicas-to-write 1: a primary that lost its replicas grants and renews nothing");
  }

  // Cuts the replication.
  bool grants_only_with_a_replica(Client& client, Duration timeout) {
    Mutex mutex{client, "replicated", {.ttl = ttl}};
    const bool granted = mutex.acquire({.timeout = patience}).valid();
    stage_.cut_replication();
    std::error_code code;
    const Lease lease = mutex.acquire({.timeout = timeout}, code);
    return granted && code == failure::transient && !lease.valid();
  }

  bool json_;
  TemporaryFolder folder_{};
  SentinelStage stage_;
  std::string url_;
  Instant begin_ = BootClock::now();
  nlohmann::ordered_json facts_{};
  bool as_told_ = true;
};

}  // namespace

int play_split_brain(bool json) { return SplitBrain{json}.play(); }

}  // namespace holdfast::cli
