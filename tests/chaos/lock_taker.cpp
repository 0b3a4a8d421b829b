// A process that takes locks, for tests that kill, stop and watch processes. What happens is told
// on stdout, a line each:
//
//   waiting · granted FENCE OWNER · lost · released WORD · failed WORD DETAIL · done
//
// lock_taker --store URL --name N[,N…] [--ttl D] [--wait D|forever] [--hold D|forever]
//            [--hold-up-to D] [--loop N|forever] [--crash granted] [--die-one-in N] [--fixed]
//            [--note TEXT] [--id ID] [--log FILE] [--on-command] [--orders FIFO]
//            [--shared | --limit N [--permits N]]
//
// --orders FIFO brings orders: acquire (with --on-command), release, abandon, stop; at its end the
// process ends, as if killed. Several names: a random one each time. --die-one-in: kills itself in
// such a hold.
#include <holdfast/holdfast.hpp>

#include "base/duration_text.hpp"
#include "tests/support/overlap_log.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

namespace {

using namespace holdfast;
using namespace std::chrono_literals;

// One write a line, so that threads do not mix.
void tell(std::string line) {
  line += '\n';
  if (write(STDOUT_FILENO, line.data(), line.size()) < 0) {
    _exit(1);
  }
}

struct Options {
  std::map<std::string, std::string> values{};

  Options(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string key = argv[i];
      const bool has_value = i + 1 < argc && !std::string_view{argv[i + 1]}.starts_with("--");
      values[key] = has_value ? argv[++i] : "";
    }
  }
  bool has(const std::string& key) const { return values.contains(key); }
  std::string text(const std::string& key, std::string otherwise = {}) const {
    const auto found = values.find(key);
    return found == values.end() ? std::move(otherwise) : found->second;
  }
  // Unset: "forever".
  std::optional<Duration> time(const std::string& key, const std::string& otherwise) const {
    const std::string given = text(key, otherwise);
    if (given == "forever") {
      return std::nullopt;
    }
    const auto parsed = parse_duration(given);
    if (!parsed) {
      std::cerr << key << ": " << given << " is no duration\n";
      _exit(64);
    }
    return parsed;
  }
  std::uint64_t number(const std::string& key, std::uint64_t otherwise) const {
    const std::string given = text(key);
    return given == "forever" ? UINT64_MAX : given.empty() ? otherwise : std::stoull(given);
  }
};

// The end of the file is the end of the test: nothing is cleaned up then.
class Orders {
 public:
  void read(const std::string& file) {
    std::ifstream lines{file};
    for (std::string line; std::getline(lines, line);) {
      const std::lock_guard lock{mutex_};
      orders_.push_back(line);
      if (line == "stop") {
        stop_.request_stop();
      }
      arrived_.notify_all();
    }
    _exit(0);
  }

  std::stop_token stop() const { return stop_.get_token(); }

  // The next order, or nothing at `until`.
  std::optional<std::string> next(std::optional<Instant> until) {
    std::unique_lock lock{mutex_};
    const auto there = [&] { return !orders_.empty(); };
    if (!until) {
      arrived_.wait(lock, there);
    } else if (!arrived_.wait_for(lock, *until - BootClock::now(), there)) {
      return std::nullopt;
    }
    std::string order = orders_.front();
    orders_.pop_front();
    return order;
  }

 private:
  std::mutex mutex_{};
  std::condition_variable arrived_{};
  std::deque<std::string> orders_{};
  std::stop_source stop_{};
};

class Teller final : public Observer {
 public:
  void on_event(const Event& event) override {
    if (event.kind == Event::Kind::waiting) {
      tell("waiting " + event.holder.owner.text());
    }
  }
};

class Taker {
 public:
  Taker(const Options& options, Client& client, Orders& orders)
      : options_(options),
        orders_(orders),
        id_(options.text("--id", std::to_string(getpid()))),
        wait_(options.time("--wait", "forever")),
        random_(static_cast<unsigned>(getpid())) {
    LeaseOptions lease{.ttl = options.time("--ttl", "30s").value()};
    lease.renew = !options.has("--fixed");
    lease.note = options.text("--note");
    std::istringstream names{options.text("--name")};
    for (std::string name; std::getline(names, name, ',');) {
      targets_.push_back({name, asking(client, name, lease), {}});
    }
    for (Target& target : targets_) {
      const std::string file = options.text("--log");
      if (!file.empty()) {
        target.log = std::make_unique<test::OverlapLog>(
            targets_.size() == 1 ? file : file + "." + target.name);
      }
    }
  }

  void run() {
    const std::uint64_t rounds = options_.number("--loop", 1);
    for (std::uint64_t n = 0; n < rounds && !orders_.stop().stop_requested(); ++n) {
      if (options_.has("--on-command") && orders_.next(std::nullopt) != "acquire") {
        break;
      }
      round();
    }
    tell("done");
  }

 private:
  std::uint64_t below(std::uint64_t limit) {
    return std::uniform_int_distribution<std::uint64_t>{0, limit - 1}(random_);
  }

  using Acquire = std::function<Lease(const Wait&, std::error_code&)>;
  struct Target {
    std::string name{};
    Acquire acquire{};
    std::unique_ptr<test::OverlapLog> log{};
  };

  // In the way that the options say.
  Acquire asking(Client& client, const std::string& name, const LeaseOptions& lease) {
    if (options_.has("--limit")) {
      const auto limit = static_cast<std::uint32_t>(options_.number("--limit", 1));
      permits_ = static_cast<std::uint32_t>(options_.number("--permits", 1));
      return [semaphore = std::make_shared<Semaphore>(client, name, limit, lease),
              permits = permits_](const Wait& wait, std::error_code& ec) {
        return semaphore->acquire(wait, ec, permits);
      };
    }
    const auto mutex = std::make_shared<SharedMutex>(client, name, lease);
    if (options_.has("--shared")) {
      return [mutex](const Wait& wait, std::error_code& ec) {
        return mutex->acquire_shared(wait, ec);
      };
    }
    return [mutex](const Wait& wait, std::error_code& ec) { return mutex->acquire(wait, ec); };
  }

  // Inside from here until it leaves or hears of a loss, whichever comes first.
  class Stay {
   public:
    Stay(const Target& target, const std::string& id, std::uint32_t permits, const Lease& lease)
        : log_(target.log.get()), id_(id), permits_(permits), fence_(to_int(lease.fence())) {
      for (std::uint32_t permit = 0; permit < permits_ && log_ != nullptr; ++permit) {
        log_->enter(seat(permit), fence_);
      }
    }
    void end() {
      if (!ended_.exchange(true) && log_ != nullptr) {
        for (std::uint32_t permit = 0; permit < permits_; ++permit) {
          log_->leave(seat(permit), fence_);
        }
      }
    }

   private:
    // Each permit counts as one who is inside.
    std::string seat(std::uint32_t permit) const {
      return permits_ == 1 ? id_ : id_ + "#" + std::to_string(permit);
    }

    test::OverlapLog* log_;
    const std::string& id_;
    std::uint32_t permits_;
    std::int64_t fence_;
    std::atomic<bool> ended_{false};
  };

  void round() {
    std::error_code ec;
    const Target& target = targets_[below(targets_.size())];
    Lease lease = target.acquire({.timeout = wait_, .stop = orders_.stop()}, ec);
    if (ec) {
      tell("failed " + std::string{word(ec)} + " " + ec.message());
      return;
    }
    Stay stay{target, id_, permits_, lease};
    tell("granted " + std::to_string(to_int(lease.fence())) + " " + lease.owner().text());
    const std::stop_token lost = lease.lost();
    {
      const std::stop_callback on_lost{lost, [&] {
                                         stay.end();
                                         tell("lost");
                                       }};
      const bool abandon = hold();
      stay.end();
      if (abandon) {
        lease.abandon();
        tell("abandoned");
        return;
      }
    }
    lease.release(ec);
    tell("released " + std::string{ec ? word(ec) : "ok"});
  }

  // True if the lease is to be abandoned.
  bool hold() {
    if (options_.text("--crash") == "granted") {
      raise(SIGKILL);
    }
    std::optional<Duration> time = options_.time("--hold", "0");
    if (options_.has("--hold-up-to")) {
      const auto longest = options_.time("--hold-up-to", "").value();
      time = Duration{below(1 + static_cast<std::uint64_t>(longest.count()))};
    }
    if (const std::uint64_t odds = options_.number("--die-one-in", 0); odds != 0) {
      if (below(odds) == 0) {
        raise(SIGKILL);
      }
    }
    const auto until = time ? std::optional{BootClock::now() + *time} : std::nullopt;
    return orders_.next(until) == "abandon";
  }

  static const char* word(const std::error_code& ec) {
    return error_word(static_cast<errc>(ec.value()));
  }

  const Options& options_;
  Orders& orders_;
  const std::string id_;
  const std::optional<Duration> wait_;
  std::mt19937_64 random_;
  std::vector<Target> targets_{};
  std::uint32_t permits_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options{argc, argv};
  Orders orders;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::thread reader;
  if (options.has("--orders")) {
    reader = std::thread{[&] { orders.read(options.text("--orders")); }};
  }
  try {
    Teller teller;
    Client client{options.text("--store"), {.observer = &teller}};
    Taker{options, client, orders}.run();
    client.close();
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    _exit(69);
  }
  _exit(0);  // the reader still reads
}
