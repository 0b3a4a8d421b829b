// The guards' common tests on Redis. The resource is the key of the ledger, a list.
#include "tests/conformance/guarded_ledger.hpp"
#include "tests/conformance/redis_user.hpp"

#include <holdfast/guard/redis.hpp>

namespace holdfast::guard_tests {
namespace {

using redis_tests::Connection;
using test::RedisServer;

class RedisLedger : public GuardedLedger {
 public:
  explicit RedisLedger(std::uint16_t port) : connection_(port) {}

  std::error_code admit(const Stamp& stamp, const std::string& resource) override {
    std::error_code ec = errc::busy;
    guard_.admit(resource, stamp.name, stamp.fence, stamp.floor, ec);
    return ec;
  }
  std::error_code append(const Stamp& stamp, const std::string& resource, int rows) override {
    const std::string count = std::to_string(rows);
    const std::string fence = std::to_string(to_int(stamp.fence));
    std::error_code ec = errc::busy;
    guard_.guarded_eval(stamp, resource,
                        {.text = "for i = 1, ARGV[1] do redis.call('RPUSH', KEYS[1], ARGV[2]) end",
                         .keys = {resource},
                         .args = {count, fence}},
                        ec);
    return ec;
  }
  void append_unchecked(Fence fence, const std::string& resource) override {
    connection_.ask({"RPUSH", resource, std::to_string(to_int(fence))});
  }
  std::vector<std::int64_t> rows(const std::string& resource) override {
    std::vector<std::int64_t> fences;
    const RedisReply reply = connection_.ask({"LRANGE", resource, "0", "-1"});
    for (std::size_t i = 0; i < reply->elements; ++i) {
      fences.push_back(std::stoll(reply->element[i]->str));
    }
    return fences;
  }

 private:
  Connection connection_;
  RedisGuard guard_{connection_};
};

class RedisStorage : public Storage {
 public:
  std::unique_ptr<GuardedLedger> open() override {
    return std::make_unique<RedisLedger>(server_.port());
  }
  void restart() override {
    server_.kill_hard();
    server_.start();
  }

 private:
  // A process that is killed loses nothing that it has written; only a host would need the fsync,
  // and waiting for it would keep the writer from ever being between check and write.
  RedisServer server_{{.persistent = true, .more = {"--appendfsync", "no"}}};
};

StorageKind redis_storage() {
  return {.name = "redis",
          .make = [] { return std::make_unique<RedisStorage>(); },
          .why_not = RedisServer::installed() ? "" : RedisServer::how_to_install};
}

INSTANTIATE_TEST_SUITE_P(redis, C39, testing::Values(redis_storage()), storage_name);
INSTANTIATE_TEST_SUITE_P(redis, C39Stops, testing::Values(redis_storage()), storage_name);

}  // namespace
}  // namespace holdfast::guard_tests
