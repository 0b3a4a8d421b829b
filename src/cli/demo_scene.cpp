#include "cli/demo_scene.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "cli/demo_ledger.hpp"
#include "cli/demo_timing.hpp"

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

#include <poll.h>
#include <sys/wait.h>

namespace holdfast::cli {

namespace {

class Scene {
 public:
  Scene(const DemoPlan& plan, const DemoTeller& tell) : plan_(plan), tell_(tell) {
    result_.instances = plan.instances;
    for (int i = 0; i < plan.instances; ++i) {
      actors_.push_back({launch_instance(plan), {}, false, 0});
    }
  }

  ~Scene() {
    for (Player& actor : actors_) {
      if (!actor.gone) {
        kill(actor.instance.pid, SIGKILL);
        waitpid(actor.instance.pid, nullptr, 0);
      }
    }
  }

  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;

  DemoResult play() {
    began_ = BootClock::now();
    for (const Player& actor : actors_) {
      cue(actor, DemoCue::race);
    }
    while (std::any_of(actors_.begin(), actors_.end(),
                       [](const Player& actor) { return !actor.gone; })) {
      if (BootClock::now() > began_ + demo_limit) {
        throw std::runtime_error{"the demo took longer than " + duration_text(demo_limit)};
      }
      wait_and_read();
    }
    count();
    return result_;
  }

 private:
  struct Player {
    Actor instance;
    std::vector<std::int64_t> fences{};
    bool gone = false;
    std::int64_t paid = 0;
  };

  void wait_and_read() {
    std::vector<pollfd> waits;
    for (const Player& actor : actors_) {
      waits.push_back({actor.gone ? -1 : actor.instance.link.get(), POLLIN, 0});
    }
    poll(waits.data(), waits.size(), 1000);
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents != 0) {
        read_from(i);
      }
    }
  }

  void read_from(std::size_t index) {
    if (const auto note = receive_from<DemoNote>(actors_[index].instance.link)) {
      return on_note(index, *note);
    }
    actors_[index].gone = true;
    waitpid(actors_[index].instance.pid, nullptr, 0);
  }

  void on_note(std::size_t index, const DemoNote& note) {
    Player& actor = actors_[index];
    switch (note.type) {
      case DemoNote::Type::busy:
        return on_busy(index);
      case DemoNote::Type::granted:
        actor.fences.push_back(note.number);
        result_.fences.push_back(note.number);
        return say(index,
                   (result_.fences.size() == 1 ? "got the lock, fence " : "took over, fence ") +
                       std::to_string(note.number));
      case DemoNote::Type::middle:
        return freeze(index, note.number);
      case DemoNote::Type::paid:
        actor.paid = note.number;
        return thaw_if_overtaken(index);
      case DemoNote::Type::refused:
        ++result_.stale_refused;
        return say(index, "wakes up, writes its batch of " + std::to_string(note.number) +
                              ": REFUSED, its fence is stale");
      case DemoNote::Type::late_write:
        result_.late_payouts += note.number;
        return say(index, "wakes up, writes its batch of " + std::to_string(note.number) +
                              ": nothing stops it");
      case DemoNote::Type::lost:
        return say(index, "learns that its lease is lost, and stops");
      case DemoNote::Type::done:
        return say(index, "ends; it has paid " + std::to_string(note.number) + " orders");
      case DemoNote::Type::failed:
        throw_failure(note);
    }
  }

  [[noreturn]] static void throw_failure(const DemoNote& note) {
    throw DemoFailure{static_cast<int>(note.number), note.text.data()};
  }

  // The first loser waits in line; the others end, as a cron job would with exit code 75.
  void on_busy(std::size_t index) {
    const bool stands_by = std::exchange(stand_by_free_, false);
    if (!stands_by) {
      ++result_.busy;
    }
    say(index, stands_by ? "is told that somebody holds it, and waits in line"
                         : "is told that somebody holds it, and leaves (exit code 75)");
    cue(actors_[index], stands_by ? DemoCue::stand_by : DemoCue::leave);
  }

  void freeze(std::size_t index, std::int64_t paid) {
    Player& actor = actors_[index];
    kill(actor.instance.pid, SIGSTOP);
    waitpid(actor.instance.pid, nullptr, WUNTRACED);
    frozen_ = index;
    frozen_at_ = BootClock::now();
    result_.frozen_instance = static_cast<int>(index) + 1;
    say(index, "has paid " + std::to_string(paid) + ", has read the next batch, and is FROZEN (" +
                   "SIGSTOP) before it writes");
    cue(actor, DemoCue::go_on);  // it reads this only when it runs again
  }

  // The other has written at least the batch that the frozen one still has in its hands.
  void thaw_if_overtaken(std::size_t index) {
    if (frozen_ && index != *frozen_ && actors_[index].paid >= 2 * demo_batch) {
      result_.frozen_for = BootClock::now() - frozen_at_;
      say(*frozen_, "is thawed (SIGCONT) after " + duration_text(result_.frozen_for));
      kill(actors_[*frozen_].instance.pid, SIGCONT);
      frozen_.reset();
    }
  }

  void count() {
    const auto totals = DemoLedger{plan_.ledger}.totals();
    result_.paid = totals.paid;
    result_.double_payouts = totals.double_payouts;
    result_.ran = static_cast<int>(std::count_if(
        actors_.begin(), actors_.end(), [](const Player& actor) { return !actor.fences.empty(); }));
    result_.took = BootClock::now() - began_;
  }

  void say(std::size_t index, const std::string& what) const {
    tell_(BootClock::now() - began_, "#" + std::to_string(index + 1) + " " + what);
  }

  static void cue(const Player& actor, DemoCue cue) { send_to(actor.instance.link, cue); }

  const DemoPlan& plan_;
  const DemoTeller& tell_;
  DemoResult result_{};
  std::vector<Player> actors_{};
  Instant began_{};
  bool stand_by_free_ = true;
  std::optional<std::size_t> frozen_{};
  Instant frozen_at_{};
};

}  // namespace

DemoResult play_payout(const DemoPlan& plan, const DemoTeller& tell) {
  return Scene{plan, tell}.play();
}

}  // namespace holdfast::cli
