#include "cli/payout_run.hpp"

#include <holdfast/client.hpp>

#include "cli/payout_book.hpp"
#include "cli/postgres_connection.hpp"

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/wait.h>

namespace holdfast::cli {

namespace {

constexpr Duration run_limit = std::chrono::seconds{60};  // then something is wrong

class Run {
 public:
  Run(const PayoutPlan& plan, RedisPair* pair) : plan_(plan), pair_(pair) {
    for (int i = 0; i < plan.workers; ++i) {
      players_.push_back({launch_worker(plan), false});
    }
  }
  ~Run() {
    for (const Player& player : players_) {
      if (!player.gone) {
        kill(player.worker.pid, SIGKILL);
        waitpid(player.worker.pid, nullptr, 0);
      }
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  std::int64_t play() {
    const Instant end = BootClock::now() + run_limit;
    for (const Player& player : players_) {
      send_to(player.worker.link, PayoutCue::start);
    }
    while (!std::ranges::all_of(players_, &Player::gone)) {
      if (BootClock::now() > end) {
        throw Error{errc::timed_out, "a run of the demo did not end"};
      }
      read_notes();
    }
    return refused_;
  }

 private:
  struct Player {
    Actor worker;
    bool gone = false;
  };

  void read_notes() {
    std::vector<pollfd> waits;
    for (const Player& player : players_) {
      waits.push_back({player.gone ? -1 : player.worker.link.get(), POLLIN, 0});
    }
    poll(waits.data(), waits.size(), 1000);
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents == 0) {
        continue;
      }
      if (const auto note = receive_from<PayoutNote>(players_[i].worker.link)) {
        on_note(i, *note);
      } else {
        waitpid(players_[i].worker.pid, nullptr, 0);
        players_[i].gone = true;
      }
    }
  }

  void on_note(std::size_t index, const PayoutNote& note) {
    switch (note.type) {
      case PayoutNote::Type::working: {
        const bool unlucky = !unlucky_ && plan_.fault != PayoutFault::none;
        if (unlucky) {
          unlucky_ = index;
        }
        return send_to(players_[index].worker.link,
                       unlucky ? PayoutCue::unlucky : PayoutCue::lucky);
      }
      case PayoutNote::Type::at_read:
      case PayoutNote::Type::half_way:
        return strike(players_[index].worker);
      case PayoutNote::Type::paid:
      case PayoutNote::Type::done:
        return overtaken_by(index);
      case PayoutNote::Type::refused:
        ++refused_;
        return;
      case PayoutNote::Type::lost:
        return;
      case PayoutNote::Type::failed:
        throw Error{errc::store_unavailable, note.text.data()};
    }
  }

  void strike(const Actor& victim) {
    struck_ = true;
    switch (plan_.fault) {
      case PayoutFault::pause:
        kill(victim.pid, SIGSTOP);
        waitpid(victim.pid, nullptr, WUNTRACED);
        return;
      case PayoutFault::kill:
        kill(victim.pid, SIGKILL);
        return;
      case PayoutFault::lost_lock:
        Client{plan_.store}.break_name(plan_.lock_name, BreakMode::now);
        return;
      case PayoutFault::failover:
        pair_->fail_over();
        return;
      case PayoutFault::none:
        return;
    }
  }

  // Whoever comes after the unlucky one has met the orders that it has in its hands.
  void overtaken_by(std::size_t index) {
    if (!struck_ || index == unlucky_ || plan_.fault == PayoutFault::kill) {
      return;
    }
    struck_ = false;
    const Actor& victim = players_[*unlucky_].worker;
    send_to(victim.link, PayoutCue::go_on);
    kill(victim.pid, SIGCONT);
  }

  const PayoutPlan& plan_;
  RedisPair* pair_;
  std::vector<Player> players_{};
  std::optional<std::size_t> unlucky_{};
  bool struck_ = false;  // the unlucky one waits for others to go past it
  std::int64_t refused_ = 0;
};

}  // namespace

PayoutResult play_payout_run(PayoutPlan plan, RedisPair* pair) {
  if (plan.fault == PayoutFault::failover) {
    plan.store = pair->url();
    pair->cut_replication();
  }
  const std::unique_ptr<PostgresSession> session = connect_postgres(plan.database);
  PayoutBook book{*session, plan.schema, plan.lock_name, plan.way};
  book.create(plan.orders);
  PayoutResult result;
  result.refused = Run{plan, pair}.play();
  const auto totals = book.totals();
  result.paid = totals.paid;
  result.double_payouts = totals.double_payouts;
  book.drop();
  return result;
}

}  // namespace holdfast::cli
