#include "bench/bare_redis.hpp"
#include "bench/benchmarks.hpp"
#include "bench/processors.hpp"
#include "bench/series.hpp"

#include <holdfast/holdfast.hpp>

#include "runtime/host.hpp"
#include "store/redis/redis_factory.hpp"
#include "store/redis/requests.hpp"
#include "tests/support/redis_server.hpp"

#include <sys/random.h>

#include <stdexcept>
#include <string>

namespace holdfast::bench {

namespace {

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

}  // namespace

std::vector<Table> bench_redis(const Options& options) {
  test::RedisServer server;
  std::vector<Table> tables;
  if (processor_count() > 1) {
    tables.push_back(
        cycles(options, server, "Redis: acquire + release, different processors", 1, 1.15));
  }
  tables.push_back(cycles(options, server, "Redis: acquire + release, one processor", 0, 1.25));
  return tables;
}

}  // namespace holdfast::bench
