// Where the server of a store is: always in one place, or where Sentinel says. One a store, on its
// loop; what one of a factory's stores learns, the others know.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/function.hpp>

#include "net/stream.hpp"

#include <cstdint>
#include <variant>
#include <vector>

namespace holdfast::redis {

class Locator {
 public:
  using Found = std::variant<net::Endpoint, Failed>;

  Locator() = default;
  Locator(const Locator&) = delete;
  Locator& operator=(const Locator&) = delete;
  virtual ~Locator() = default;

  // Answers once, on the loop, maybe at once, within op_timeout. `anew`: what is known led nowhere.
  virtual void locate(bool anew, UniqueFunction<void(Found)> done) = 0;

  // Another number: the server is in another place than before.
  virtual std::uint64_t term() const noexcept = 0;

  // From now on the place is watched, and `moved` is called on the loop when it changed.
  virtual void watch(UniqueFunction<void()> moved) = 0;

  // What an operator should know of whoever says where the server is.
  virtual std::vector<Finding> findings() const { return {}; }

  virtual void close() noexcept = 0;  // handlers still pending are destroyed uncalled
};

// A server that stays where it is.
class FixedLocator final : public Locator {
 public:
  explicit FixedLocator(net::Endpoint endpoint) : endpoint_(std::move(endpoint)) {}

  void locate(bool /*anew*/, UniqueFunction<void(Found)> done) override { done(endpoint_); }
  std::uint64_t term() const noexcept override { return 0; }
  void watch(UniqueFunction<void()> /*moved*/) override {}
  void close() noexcept override {}

 private:
  const net::Endpoint endpoint_;
};

}  // namespace holdfast::redis
