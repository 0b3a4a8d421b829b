// A way to a server through a proxy that can be spoiled, also for other processes.
#pragma once

#include "tests/chaos/test_store.hpp"
#include "tests/support/fault_proxy.hpp"

#include <functional>
#include <memory>
#include <string>

namespace holdfast::chaos {

class ProxiedLink final : public Link {
 public:
  // `url_of` makes the URL of the store as seen at a port of 127.0.0.1.
  ProxiedLink(std::uint16_t server_port, const std::function<std::string(std::uint16_t)>& url_of)
      : proxy_(server_port), url_(url_of(proxy_.port())) {}

  std::string url() const { return url_; }
  std::unique_ptr<Client> connect(ClientOptions options = {}) override {
    return std::make_unique<Client>(url_, std::move(options));
  }
  void fault(Fault fault) override;
  void reset() override { proxy_.reset_open(); }
  void delay(std::chrono::milliseconds answers) override { proxy_.delay_replies(answers); }

 private:
  test::FaultProxy proxy_;
  std::string url_;
};

}  // namespace holdfast::chaos
