#include "bench/benchmarks.hpp"
#include "bench/processors.hpp"
#include "bench/series.hpp"

#include <holdfast/holdfast.hpp>

#include "runtime/host.hpp"
#include "store/redis/redis_factory.hpp"
#include "store/redis/requests.hpp"
#include "tests/support/redis_server.hpp"

#include <hiredis/hiredis.h>
#include <sys/random.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace holdfast::bench {

namespace {

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;
struct FreeContext {
  void operator()(redisContext* context) const noexcept { redisFree(context); }
};

// A blocking connection as people write it by hand.
class BareRedis {
 public:
  explicit BareRedis(int port) : context_(redisConnect("127.0.0.1", port)) {
    if (!context_ || context_->err != 0) {
      throw std::runtime_error{"cannot connect to the benchmark's redis-server"};
    }
  }

  Reply send(const std::string& bytes) {
    redisAppendFormattedCommand(context_.get(), bytes.data(), bytes.size());
    void* reply = nullptr;
    if (redisGetReply(context_.get(), &reply) != REDIS_OK) {
      throw std::runtime_error{context_->errstr};
    }
    Reply owned{static_cast<redisReply*>(reply)};
    if (owned->type == REDIS_REPLY_ERROR) {
      throw std::runtime_error{owned->str};
    }
    return owned;
  }
  template <class... Arguments>
  Reply command(const char* format, Arguments... arguments) {
    return Reply{static_cast<redisReply*>(redisCommand(context_.get(), format, arguments...))};
  }

 private:
  std::unique_ptr<redisContext, FreeContext> context_;
};

// The floor: the very two scripts that holdfast sends, by bare blocking hiredis.
class SameScripts {
 public:
  SameScripts(BareRedis& redis, const std::string& url)
      : redis_(redis), settings_(StoreUrl::parse(url), "") {
    claim_.name = "floor";
    claim_.ttl = std::chrono::seconds{30};
    claim_.liveness = std::chrono::seconds{5};
    claim_.who = {"host", 1, ""};
    redis_.command("SCRIPT LOAD %s", redis::scripts().acquire.text.c_str());
    redis_.command("SCRIPT LOAD %s", redis::scripts().withdraw.text.c_str());
  }
  void cycle() {
    // The owner is drawn anew, as it must be.
    if (getrandom(claim_.owner.bytes.data(), claim_.owner.bytes.size(), 0) < 0) {
      throw std::runtime_error{"getrandom"};
    }
    send(redis::acquire_request(claim_, false, settings_));
    send(redis::withdraw_request(claim_, {.keep_min_hold = true}, settings_));
  }

 private:
  void send(const redis::Request& request) {
    bytes_.clear();
    request.write(bytes_);
    redis_.send(bytes_);
  }
  BareRedis& redis_;
  redis::Settings settings_;
  Claim claim_{};
  std::string bytes_{};
};

// What people write by hand: SET NX PX, and a compare-and-delete script. No fence, no queue.
void set_nx_cycle(BareRedis& redis) {
  static const std::string release =
      "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end "
      "return 0";
  redis.command("SET by-hand token NX PX 30000");
  redis.command("EVAL %s 1 by-hand token", release.c_str());
}

Table cycles(const Options& options, test::RedisServer& server, const std::string& title,
             int server_processor, double goal) {
  pin(server.pid(), server_processor);
  pin(0, 0);
  BareRedis bare{server.port()};
  SameScripts same{bare, server.url()};
  Client client{make_redis_factory(StoreUrl::parse(server.url()), ""), make_host()};
  Mutex mutex{client, "bench"};

  const auto floor_cycle = [&] { same.cycle(); };
  const auto our_cycle = [&] { mutex.acquire().release(); };
  const auto by_hand = [&] { set_nx_cycle(bare); };
  Series floor{"bare hiredis, the same two scripts"};
  Series ours{"holdfast, acquire + release with fence"};
  Series hand{"by hand: SET NX PX + compare-and-delete"};
  for (int i = 0; i < 200; ++i) {
    floor_cycle();
    our_cycle();
    by_hand();
  }
  const std::int64_t before = server.calls("evalsha");
  for (int i = 0; i < 100; ++i) {
    our_cycle();
  }
  const std::int64_t calls = server.calls("evalsha") - before;
  alternate(options.blocks, options.block_size,
            std::pair<Series&, decltype(floor_cycle)>{floor, floor_cycle},
            std::pair<Series&, decltype(our_cycle)>{ours, our_cycle},
            std::pair<Series&, decltype(by_hand)>{hand, by_hand});
  unpin();
  Table table{.title = title,
              .how = "client on processor 0, server on processor " +
                     std::to_string(server_processor) + "; " + std::to_string(floor.size()) +
                     " cycles each, in turns"};
  table.rows = {floor_row(floor), row(ours, floor, goal), row(hand, floor)};
  table.rows[1].note = std::to_string(calls) + " commands for 100 cycles";
  return table;
}

// From release to the next grant, one holder and one waiter in two clients.
Series hand_offs(Mutex& first, Mutex& second, int rounds, const std::string& name) {
  Series series{name};
  for (int i = 0; i < rounds; ++i) {
    Mutex& from = i % 2 == 0 ? first : second;
    Mutex& to = i % 2 == 0 ? second : first;
    Lease held = from.acquire();
    std::chrono::steady_clock::time_point granted;
    std::jthread waiter{[&] {
      Lease next = to.acquire();
      granted = std::chrono::steady_clock::now();
    }};
    std::this_thread::sleep_for(std::chrono::milliseconds{3});  // the waiter joins the queue
    const auto begin = std::chrono::steady_clock::now();
    held.release();
    waiter.join();
    series.add(std::chrono::duration<double, std::micro>(granted - begin).count());
  }
  return series;
}

Series polled_hand_offs(test::RedisServer& server, int rounds) {
  Series series{"by hand: SET NX every 10 ms"};
  BareRedis holder{server.port()};
  BareRedis poller{server.port()};
  for (int i = 0; i < rounds; ++i) {
    holder.command("SET polled a PX 30000");
    std::chrono::steady_clock::time_point granted;
    std::jthread waiter{[&] {
      while (poller.command("SET polled b NX PX 30000")->type != REDIS_REPLY_STATUS) {
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
      }
      granted = std::chrono::steady_clock::now();
    }};
    std::this_thread::sleep_for(std::chrono::microseconds{3000 + i * 97 % 10000});
    const auto begin = std::chrono::steady_clock::now();
    holder.command("DEL polled");
    waiter.join();
    series.add(std::chrono::duration<double, std::micro>(granted - begin).count());
  }
  return series;
}

Series published(test::RedisServer& server, int rounds) {
  Series series{"bare PUBLISH -> blocked subscriber"};
  BareRedis publisher{server.port()};
  BareRedis subscriber{server.port()};
  subscriber.command("SUBSCRIBE c");
  for (int i = 0; i < rounds; ++i) {
    std::chrono::steady_clock::time_point heard;
    std::jthread waiter{[&] {
      subscriber.send("");
      heard = std::chrono::steady_clock::now();
    }};
    std::this_thread::sleep_for(std::chrono::milliseconds{3});
    const auto begin = std::chrono::steady_clock::now();
    publisher.command("PUBLISH c m");
    waiter.join();
    series.add(std::chrono::duration<double, std::micro>(heard - begin).count());
  }
  return series;
}

Table waiting(const Options& options, test::RedisServer& server) {
  const auto factory = [&] { return make_redis_factory(StoreUrl::parse(server.url()), ""); };
  Client one{factory(), make_host()};
  Client two{factory(), make_host()};
  Mutex first{one, "hand-off"};
  Mutex second{two, "hand-off"};
  const int rounds = options.blocks * 5;
  hand_offs(first, second, 20, "warm-up");
  const Series floor = published(server, rounds);
  const Series ours = hand_offs(first, second, rounds, "holdfast, release -> next grant");
  const Series polled = polled_hand_offs(server, rounds);
  return {.title = "Redis: hand-off to one waiter",
          .how = std::to_string(rounds) + " rounds each; not pinned",
          .rows = {floor_row(floor), row(ours, floor), row(polled, floor)}};
}

}  // namespace

std::vector<Table> bench_redis(const Options& options) {
  test::RedisServer server;
  std::vector<Table> tables;
  if (processor_count() > 1) {
    tables.push_back(
        cycles(options, server, "Redis: acquire + release, different processors", 1, 1.15));
  }
  tables.push_back(cycles(options, server, "Redis: acquire + release, one processor", 0, 1.25));
  tables.push_back(waiting(options, server));
  return tables;
}

}  // namespace holdfast::bench
