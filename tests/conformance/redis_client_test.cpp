// The client on a Redis that freezes: what it leaves behind when its process goes away.
#include <holdfast/holdfast.hpp>

#include "runtime/host.hpp"
#include "tests/conformance/redis_fixture.hpp"
#include "tests/support/eventually.hpp"

#include <thread>

namespace holdfast::redis_tests {
namespace {

class RedisClient : public OnRedis {};

// A frozen server executes what waits in its sockets, also of a client that has closed. The loop
// never got through to it, so only what follows the request on its own connection can undo it.
TEST_F(RedisClient, AnAttemptOnAFrozenServerIsWithdrawnOnItsOwnConnection) {
  {
    Client client{factory(), make_host()};
    Mutex{client, "warm"}.acquire().release();  // the lane is connected from here on
    server().command({"SCRIPT", "FLUSH"});
    Mutex{client, "warm"}.acquire().abandon();  // knows acquire, but not withdraw
    server().freeze();
    Mutex mutex{client, "job"};
    std::error_code ec;
    const Lease none = mutex.acquire({.timeout = 200ms}, ec);
    EXPECT_EQ(ec, errc::outcome_unknown);
  }
  server().thaw();
  Client other{factory_for(server().url()), make_host()};
  Mutex mutex{other, "job"};
  const auto free = [&] { return mutex.try_acquire().has_value(); };
  EXPECT_TRUE(test::eventually(free, 2s)) << "the name stays locked for a TTL";
  EXPECT_EQ(server().command({"EXISTS", "lock:warm"}), "1") << "the acquire was executed";
}

// A server with a `timeout` hangs up on idle clients. Over TLS it says goodbye first, so that there
// is something to read on a connection that is gone.
class RedisClientOverTls : public OnRedis {
  RedisOptions options() const override { return {.tls = test::TestCertificates::Kind::good}; }
};

TEST_F(RedisClientOverTls, AConnectionThatWasHungUpWhileIdleCostsNoAttempt) {
  Client client{factory(), make_host()};
  Mutex mutex{client, "job"};
  mutex.acquire().release();
  EXPECT_NE(server().command({"CLIENT", "KILL", "TYPE", "normal"}), "0");
  std::this_thread::sleep_for(200ms);  // idle is a matter of time
  std::error_code ec;
  const auto lease = mutex.try_acquire(ec);
  EXPECT_TRUE(lease.has_value()) << ec.message();
}

}  // namespace
}  // namespace holdfast::redis_tests
