#include "sim/timeline/timeline.hpp"

#include <array>
#include <cstdio>

namespace holdfast::sim {

namespace {

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + ' ' + std::string{count == 1 ? one : many};
}

std::string seconds(Duration time) {
  std::array<char, 32> digits{};
  const int length = std::snprintf(digits.data(), digits.size(), "%.1f s",
                                   std::chrono::duration<double>(time).count());
  return {digits.data(), static_cast<std::size_t>(length)};
}

}  // namespace

std::string_view word(LaneKind kind) {
  constexpr std::array<std::string_view, 3> words{"instance", "store", "database"};
  return words.at(static_cast<std::size_t>(kind));
}

std::string_view word(SpanKind kind) {
  constexpr std::array<std::string_view, 8> words{"waits", "believes", "margin", "holds",
                                                  "works", "paused",   "down",   "trouble"};
  return words.at(static_cast<std::size_t>(kind));
}

std::string_view word(MarkKind kind) {
  constexpr std::array<std::string_view, 22> words{
      "granted", "handed_on",    "queued",       "renewed", "released", "expired",
      "lost",    "gave_up",      "robbed",       "forgot",  "read",     "wrote",
      "doubled", "torn",         "refused",      "paused",  "resumed",  "crashed",
      "started", "clock_jumped", "message_lost", "objected"};
  return words.at(static_cast<std::size_t>(kind));
}

std::string text(const Verdict& verdict) {
  std::string line = std::to_string(verdict.paid) + " of " + std::to_string(verdict.orders) +
                     " orders paid, " +
                     counted(verdict.double_payouts, "double payout", "double payouts") + ", " +
                     counted(verdict.refused, "late write refused", "late writes refused") +
                     ", nobody at work for " + seconds(verdict.idle);
  if (verdict.overlap > Duration{0}) {
    line += ", two at once for " + seconds(verdict.overlap);
  }
  if (verdict.torn > 0) {
    line += ", " + counted(verdict.torn, "torn report", "torn reports");
  }
  if (verdict.robbed > 0) {
    line += ", " + counted(verdict.robbed, "lock", "locks") + " deleted by a stranger";
  }
  if (verdict.objections > 0) {
    line += ", " + counted(verdict.objections, "broken promise", "broken promises") +
            " of holdfast: please report this seed";
  }
  return line;
}

}  // namespace holdfast::sim
