// A redis-server of its own, and proxies to it, for the cases.
#pragma once

#include "tests/chaos/proxied_link.hpp"
#include "tests/chaos/test_store.hpp"
#include "tests/support/redis_server.hpp"

#include <memory>
#include <string>

namespace holdfast::chaos {

class RedisTestStore final : public TestStore {
 public:
  std::string url() const override { return server_.url(); }
  std::unique_ptr<Client> connect(ClientOptions options) override {
    return std::make_unique<Client>(url(), std::move(options));
  }
  std::unique_ptr<Link> link() override {
    return std::make_unique<ProxiedLink>(server_.port(), [](std::uint16_t port) {
      return "redis://127.0.0.1:" + std::to_string(port);
    });
  }
  std::optional<std::int64_t> left_behind() override {
    const std::string count = server_.command(
        {"EVAL",
         "local n, cursor = 0, '0' repeat local page = redis.call('SCAN', cursor, 'COUNT', 1000) "
         "cursor = page[1] for _, key in ipairs(page[2]) do "
         "if not string.find(key, '\\31fence\\31', 1, true) then n = n + 1 end end "
         "until cursor == '0' return n",
         "0"});
    return std::stoll(count.substr(count.find_first_of("0123456789")));
  }
  void erase(const std::string& name) override { server_.command({"DEL", "lock:" + name}); }
  test::RedisServer& server() { return server_; }

 private:
  test::RedisServer server_{};
};

}  // namespace holdfast::chaos
