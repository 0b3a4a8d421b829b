// Tells facts to one checker, one a second unless said otherwise.
//
//   Told told{make_exclusion_checker()};
//   told(trusts(0, a, 20s))(trusts(1, b, 20s));
//   EXPECT_EQ(told.objections(), 1U);
#pragma once

#include "sim/checkers/checkers.hpp"

#include <holdfast/error.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace holdfast::sim {

using namespace std::chrono_literals;

inline constexpr OwnerId a{{1}};
inline constexpr OwnerId b{{2}};
inline constexpr OwnerId c{{3}};
constexpr WorldTime at(Duration time) { return WorldTime{time}; }

class Told {
 public:
  explicit Told(std::unique_ptr<Checker> checker) : checker_(std::move(checker)) {}

  Told& operator()(const Fact& fact) { return operator()(now_ + 1s, fact); }
  Told& operator()(WorldTime now, const Fact& fact) {
    now_ = now;
    checker_->hear(fact, now);
    return *this;
  }
  std::size_t objections() const { return checker_->violations().size(); }
  std::uint64_t counted() const {
    std::uint64_t sum = 0;
    for (const auto& [what, times] : checker_->counts()) {
      sum += times;
    }
    return sum;
  }

 private:
  std::unique_ptr<Checker> checker_;
  WorldTime now_{};
};

inline Trusts trusts(NodeId node, OwnerId owner, Duration until, Fence fence = Fence{1}) {
  return {node, AttemptId{node + 1}, "n", owner, fence, at(until), false, 10s};
}
inline Ended lost(NodeId node, OwnerId owner, errc why) {
  return {node, "n", owner, Ending::lost, make_error_code(why)};
}
inline Trusts with(Trusts trusts, Use use) {
  trusts.use = std::move(use);
  return trusts;
}
inline StoreForgot forgot(std::vector<OwnerId> owners) { return {"test", std::move(owners)}; }

inline const Use reader{Mode::shared, 1, 0, {}};
inline const Use writer{};
inline Use permits(std::uint32_t count, std::uint32_t limit) {
  return {Mode::shared, count, limit, {}};
}

}  // namespace holdfast::sim
