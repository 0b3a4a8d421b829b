// Which server is the primary, from what the sentinels say. Pure: it is told the time and the
// answers; src/store/redis/sentinel_locator asks them.
//
// All are asked at once. Sentinels may be down, behind the times or know nothing of it, so the word
// with the greatest epoch counts, as soon as more than half have answered, all have, or `patience`
// after the first word. That the server is a primary is checked when it is connected to.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/types.hpp>

#include "store/redis/errors.hpp"
#include "store/redis/sentinel_news.hpp"

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::redis {

class PrimarySearch {
 public:
  static constexpr Duration patience = std::chrono::milliseconds{100};
  using Result = std::variant<SentinelWord, Failed>;

  // `name`: of the primary. `place`: for the text of a failure.
  PrimarySearch(std::size_t sentinels, std::string name, Place place);

  void on_word(std::size_t sentinel, SentinelWord word, Instant now);
  void on_unknown(std::size_t sentinel);  // it knows no primary of this name
  void on_failure(std::size_t sentinel, Failed why);

  // When result() may change by time alone.
  Instant wake_at() const noexcept { return wake_at_; }
  std::optional<Result> result(Instant now) const;

 private:
  using Said = std::variant<std::monostate, SentinelWord, Failed>;
  std::size_t answered() const noexcept;
  Failed why_not() const;

  std::vector<Said> said_;
  std::vector<bool> unknown_;
  std::string name_;
  Place place_;
  Instant wake_at_ = Instant::max();
};

}  // namespace holdfast::redis
