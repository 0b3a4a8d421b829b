#include "sim/clock.hpp"

namespace holdfast::sim {

namespace {

constexpr std::int64_t million = 1'000'000;
constexpr Duration far = std::chrono::hours{24 * 365 * 20};  // no world lasts that long

// value * factor / divisor without overflow for values of days in nanoseconds.
std::int64_t scaled(std::int64_t value, std::int64_t factor, std::int64_t divisor) {
  return value / divisor * factor + value % divisor * factor / divisor;
}

}  // namespace

SimClock::SimClock(const World& world, Instant start, std::int64_t drift_ppm)
    : world_(&world), anchor_true_(world.now()), anchor_shown_(start), drift_ppm_(drift_ppm) {}

Instant SimClock::at(WorldTime when) const {
  const std::int64_t passed = (when - anchor_true_).count();
  return anchor_shown_ + Duration{scaled(passed, million + drift_ppm_, million)};
}

WorldTime SimClock::when(Instant shown) const {
  if (shown > anchor_shown_ + far) {
    return WorldTime::max();
  }
  const std::int64_t wanted = (shown - anchor_shown_).count();
  WorldTime result = anchor_true_ + Duration{scaled(wanted, million, million + drift_ppm_)};
  while (at(result) < shown) {
    result += Duration{1};
  }
  return result;
}

void SimClock::anchor() {
  anchor_shown_ = now();
  anchor_true_ = world_->now();
}

void SimClock::set_drift(std::int64_t drift_ppm) {
  anchor();
  drift_ppm_ = drift_ppm;
}

void SimClock::jump(Duration by) {
  anchor();
  anchor_shown_ += by;
}

}  // namespace holdfast::sim
