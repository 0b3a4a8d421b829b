// Hand-off: from one holder's release to the next waiter's grant, for few waiters and many.
#include "bench/bare_redis.hpp"
#include "bench/benchmarks.hpp"
#include "bench/processors.hpp"
#include "bench/series.hpp"
#include "bench/usage.hpp"

#include <holdfast/holdfast.hpp>

#include "tests/support/redis_server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::bench {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* name = "hand-off";
constexpr Duration held_for = milliseconds{2};

// Every waiter is granted once, keeps the name for a moment and releases it: as many hand-offs as
// there are waiters.
class Relay {
 public:
  Relay(test::RedisServer& server, Series& series) : server_(server), series_(series) {}

  // What all clients sent after everybody stood in the queue, beats included.
  std::int64_t commands() const noexcept { return commands_; }

  void run(Mutex& first, const std::vector<std::unique_ptr<Mutex>>& waiters, Client& observer) {
    left_ = waiters.size();
    Lease held = first.acquire();
    std::vector<std::jthread> threads;
    for (const auto& waiter : waiters) {
      threads.emplace_back([this, &waiter] { pass_on(waiter->acquire()); });
    }
    wait_for(observer, waiters.size());
    release(std::move(held));
    threads.clear();
    commands_ = server_.calls("evalsha") - commands_;
  }

  // The same with handlers instead of threads: all waiters share one client.
  void run_asynchronous(Mutex& mutex, std::size_t waiters, Client& observer) {
    left_ = waiters;
    Lease held = mutex.acquire();
    for (std::size_t i = 0; i < waiters; ++i) {
      mutex.start_acquire({}, [this](std::error_code code, Lease lease) {
        pass_on(code ? Lease{} : std::move(lease));
      });
    }
    wait_for(observer, waiters);
    release(std::move(held));
    for (std::size_t left = left_; left != 0; left = left_) {
      left_.wait(left);
    }
    commands_ = server_.calls("evalsha") - commands_;
  }

 private:
  void wait_for(Client& observer, std::size_t waiters) {
    while (observer.inspect(name).waiters.size() < std::min<std::size_t>(waiters, 1000)) {
      std::this_thread::sleep_for(milliseconds{5});
    }
    std::this_thread::sleep_for(milliseconds{50});
    commands_ = server_.calls("evalsha");
  }

  void pass_on(Lease lease) {
    const Clock::time_point now = Clock::now();
    series_.add(std::chrono::duration<double, std::micro>(now - released_at_).count());
    std::this_thread::sleep_for(held_for);
    release(std::move(lease));
    --left_;
    left_.notify_one();
  }
  void release(Lease lease) {
    released_at_ = Clock::now();
    lease.release();
  }

  test::RedisServer& server_;
  Series& series_;
  std::int64_t commands_ = 0;
  Clock::time_point released_at_{};  // handed from holder to holder, like the lock itself
  std::atomic<std::size_t> left_{0};
};

struct Measured {
  Series series;
  double commands = 0;  // of all clients
};

int rounds_of(std::size_t waiters) { return std::max(1, 256 / static_cast<int>(waiters)); }

// `play` has a relay run once.
template <class Play>
Measured measured(test::RedisServer& server, std::size_t waiters, const std::string& who,
                  Play play) {
  Measured result{Series{std::to_string(waiters) + who}, 0};
  Series warm_up{"warm-up"};
  Relay first{server, warm_up};
  play(first);
  for (int i = 0; i < rounds_of(waiters); ++i) {
    Relay relay{server, result.series};
    play(relay);
    result.commands += static_cast<double>(relay.commands());
  }
  return result;
}

Measured one_waiter_a_client(test::RedisServer& server, std::size_t waiters) {
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<Mutex>> mutexes;
  for (std::size_t i = 0; i < waiters; ++i) {
    clients.push_back(std::make_unique<Client>(server.url()));
    mutexes.push_back(std::make_unique<Mutex>(*clients.back(), name));
  }
  Client first{server.url()};
  Mutex mutex{first, name};
  return measured(server, waiters, " waiters, a client each",
                  [&](Relay& relay) { relay.run(mutex, mutexes, first); });
}

Measured all_in_one_client(test::RedisServer& server, std::size_t waiters) {
  Client client{server.url()};
  Client observer{server.url()};
  Mutex mutex{client, name};
  return measured(server, waiters, " waiters in one client",
                  [&](Relay& relay) { relay.run_asynchronous(mutex, waiters, observer); });
}

Series published(test::RedisServer& server, int rounds) {
  Series series{"bare PUBLISH -> blocked subscriber"};
  BareRedis publisher{server.port()};
  BareRedis subscriber{server.port()};
  subscriber.command("SUBSCRIBE c");
  std::atomic<Clock::rep> begin{0};
  std::jthread waiter{[&] {
    for (int i = 0; i < rounds; ++i) {
      subscriber.send("");
      const Clock::time_point heard = Clock::now();
      series.add(std::chrono::duration<double, std::micro>(
                     heard - Clock::time_point{Clock::duration{begin.load()}})
                     .count());
    }
  }};
  for (int i = 0; i < rounds; ++i) {
    std::this_thread::sleep_for(milliseconds{2});
    begin = Clock::now().time_since_epoch().count();
    publisher.command("PUBLISH c m");
  }
  waiter.join();
  return series;
}

Series polled(test::RedisServer& server, int rounds) {
  Series series{"by hand: SET NX every 10 ms"};
  BareRedis holder{server.port()};
  BareRedis poller{server.port()};
  for (int i = 0; i < rounds; ++i) {
    holder.command("SET polled a PX 30000");
    Clock::time_point granted;
    std::jthread waiter{[&] {
      while (poller.command("SET polled b NX PX 30000")->type != REDIS_REPLY_STATUS) {
        std::this_thread::sleep_for(milliseconds{10});
      }
      granted = Clock::now();
    }};
    std::this_thread::sleep_for(std::chrono::microseconds{3000 + i * 97 % 10000});
    const Clock::time_point begin = Clock::now();
    holder.command("DEL polled");
    waiter.join();
    series.add(std::chrono::duration<double, std::micro>(granted - begin).count());
  }
  return series;
}

// What a thousand waiters cost while nothing happens.
Figure idle_waiters(test::RedisServer& server, std::size_t waiters) {
  Client holder{server.url()};
  const Lease held = Mutex{holder, name}.acquire();
  Client client{server.url()};
  Mutex mutex{client, name};
  std::atomic<std::size_t> ended{0};
  for (std::size_t i = 0; i < waiters; ++i) {
    mutex.start_acquire({}, [&ended](std::error_code, Lease) { ++ended; });
  }
  std::this_thread::sleep_for(std::chrono::seconds{1});
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::seconds{10});
  const double share = (processor_seconds() - before) * 10;
  client.close();
  return {std::to_string(waiters) + " idle waiters in one process, % of a core", decimal(share, 2),
          "1"};
}

}  // namespace

std::vector<Table> bench_waiting(const Options& options) {
  test::RedisServer server;
  const int server_processor = processor_count() > 1 ? 1 : 0;
  pin(server.pid(), server_processor);
  pin(0, 0);
  const Series first_floor = published(server, options.blocks * 10);
  Table table{.title = "Redis: hand-off, from release to the next waiter's grant",
              .how = "clients on processor 0, server on processor " +
                     std::to_string(server_processor) + "; each holder keeps the name for 2 ms"};
  table.rows.push_back(floor_row(first_floor));
  const auto add = [&](Measured (*measure)(test::RedisServer&, std::size_t), std::size_t waiters,
                       double goal) {
    std::fprintf(stderr, "  %zu waiters ...\n", waiters);
    // Beside the floor of the same minute: the machine's speed drifts.
    const Series floor = published(server, options.blocks * 5);
    const Measured measured = measure(server, waiters);
    table.rows.push_back(row(measured.series, floor, goal));
    table.rows.back().note =
        "floor " + decimal(floor.quantile(0.5), 1) + " us; " +
        decimal(measured.commands / static_cast<double>(measured.series.size()), 1) +
        " commands a hand-off, beats included";
  };
  for (const std::size_t waiters : {1U, 2U, 16U, 128U}) {
    add(one_waiter_a_client, waiters, 1.5);
  }
  for (const std::size_t waiters : {2U, 16U, 128U, 1024U}) {
    add(all_in_one_client, waiters, 2.5);
  }
  table.rows.push_back(row(polled(server, 100), first_floor));
  table.figures.push_back(idle_waiters(server, 1024));
  unpin();
  return {table};
}

}  // namespace holdfast::bench
