// A redis-server of its own, and proxies to it, for the cases.
#pragma once

#include "tests/chaos/test_store.hpp"
#include "tests/support/fault_proxy.hpp"
#include "tests/support/redis_server.hpp"

#include <memory>
#include <string>

namespace holdfast::chaos {

// A way to a Redis through a proxy, also for other processes.
class ProxiedLink final : public Link {
 public:
  explicit ProxiedLink(std::uint16_t port) : proxy_(port) {}

  std::string url() const { return "redis://127.0.0.1:" + std::to_string(proxy_.port()); }
  std::unique_ptr<Client> connect(ClientOptions options = {}) override {
    return std::make_unique<Client>(url(), std::move(options));
  }
  void fault(Fault fault) override;
  void reset() override { proxy_.reset_open(); }
  void delay(std::chrono::milliseconds answers) override { proxy_.delay_replies(answers); }

 private:
  test::FaultProxy proxy_;
};

class RedisTestStore final : public TestStore {
 public:
  std::string url() const override { return server_.url(); }
  std::unique_ptr<Client> connect(ClientOptions options) override {
    return std::make_unique<Client>(url(), std::move(options));
  }
  std::unique_ptr<Link> link() override { return std::make_unique<ProxiedLink>(server_.port()); }
  void erase(const std::string& name) override { server_.command({"DEL", "lock:" + name}); }
  test::RedisServer& server() { return server_; }

 private:
  test::RedisServer server_{};
};

}  // namespace holdfast::chaos
