// Data in Redis that refuses the writes of a holder that comes back too late.
//
//   example_guard_redis HOST PORT
#include <holdfast/guard/redis.hpp>
#include <holdfast/holdfast.hpp>

#include <hiredis/hiredis.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

struct Disconnect {
  void operator()(redisContext* context) const noexcept { redisFree(context); }
};
using Connection = std::unique_ptr<redisContext, Disconnect>;

Connection connect(const std::string& host, int port) {
  Connection connection{redisConnect(host.c_str(), port)};
  if (!connection || connection->err != 0) {
    throw std::runtime_error{"no connection to " + host};
  }
  return connection;
}

// Only the mark and the fence decide, whatever became of the lock.
void write_fenced(const Connection& redis, holdfast::Lease& lease) {
  holdfast::RedisGuard guard{redis.get()};
  holdfast::reporting_stale(
      lease, [&] { guard.guarded_set(holdfast::stamp_of(lease), "balance", "100"); });
  const holdfast::RedisReply balance =
      guard.guarded_eval(holdfast::stamp_of(lease), "balance",
                         {.text = "return redis.call('DECRBY', KEYS[1], ARGV[1])",
                          .keys = {"balance"},
                          .args = {"7"}});
  std::cout << "balance " << balance->integer << '\n';
}

// The lock's own key decides. "lock:" is the store's prefix.
void write_owned(const Connection& redis, const holdfast::Lease& lease) {
  holdfast::RedisOwnerGuard guard{redis.get(), "lock:" + lease.name(), lease.owner()};
  guard.owned_set("last_run", "today");
}

// No lock decides: the second time, the first receipt.
void pay_once(const Connection& redis, const std::string& order) {
  const holdfast::OnceAnswer answer = holdfast::RedisOnce{redis.get()}.eval(
      "payment " + order,
      {.text = "return 'receipt ' .. redis.call('INCR', KEYS[1])", .keys = {"receipts"}});
  std::cout << (answer.first ? "paid, " : "paid before, ") << answer.result.value_or("") << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string host = argc > 1 ? argv[1] : "127.0.0.1";
    const std::string port = argc > 2 ? argv[2] : "6379";
    const Connection redis = connect(host, std::stoi(port));
    holdfast::Client client{"redis://" + host + ":" + port};
    holdfast::Mutex mutex{client, "payout"};
    const holdfast::Fence late = mutex.acquire().fence();  // released at once: we were paused
    holdfast::Lease lease = mutex.acquire();
    write_fenced(redis, lease);
    write_owned(redis, lease);
    pay_once(redis, "4711");
    pay_once(redis, "4711");
    try {
      holdfast::RedisGuard{redis.get()}.guarded_set({.name = "payout", .fence = late}, "balance",
                                                    "0");
      std::cout << "overwritten\n";
      return 1;
    } catch (const holdfast::Error& error) {
      std::cout << "refused: " << error.what() << '\n';
      return error.code() == holdfast::errc::stale_fence ? 0 : 1;
    }
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
