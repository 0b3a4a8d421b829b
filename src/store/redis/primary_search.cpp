#include "store/redis/primary_search.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

PrimarySearch::PrimarySearch(std::size_t sentinels, std::string name, Place place)
    : said_(sentinels), unknown_(sentinels), name_(std::move(name)), place_(std::move(place)) {}

void PrimarySearch::on_word(std::size_t sentinel, SentinelWord word, Instant now) {
  said_.at(sentinel) = std::move(word);
  wake_at_ = std::min(wake_at_, now + patience);
}

void PrimarySearch::on_unknown(std::size_t sentinel) {
  unknown_.at(sentinel) = true;
  said_.at(sentinel) =
      failed_with(errc::invalid_url, place_, "Sentinel knows no primary called '" + name_ + "'");
}

void PrimarySearch::on_failure(std::size_t sentinel, Failed why) {
  if (std::holds_alternative<std::monostate>(said_.at(sentinel))) {
    said_.at(sentinel) = std::move(why);
  }
}

std::size_t PrimarySearch::answered() const noexcept {
  return static_cast<std::size_t>(std::count_if(said_.begin(), said_.end(), [](const Said& one) {
    return !std::holds_alternative<std::monostate>(one);
  }));
}

std::optional<PrimarySearch::Result> PrimarySearch::result(Instant now) const {
  const SentinelWord* best = nullptr;
  std::size_t words = 0;
  for (const Said& one : said_) {
    if (const auto* word = std::get_if<SentinelWord>(&one)) {
      ++words;
      best = best == nullptr || word->epoch > best->epoch ? word : best;
    }
  }
  if (best != nullptr &&
      (words * 2 > said_.size() || answered() == said_.size() || now >= wake_at_)) {
    return *best;
  }
  if (answered() == said_.size()) {
    return why_not();
  }
  return std::nullopt;
}

// That nobody knows the name is worth more than that somebody is down, and so is a refusal.
Failed PrimarySearch::why_not() const {
  const Failed* worst = nullptr;
  const auto weight = [](const Failed& why) {
    return why.code == errc::access_denied ? 2 : why.code == errc::invalid_url ? 1 : 0;
  };
  for (const Said& one : said_) {
    const auto* why = std::get_if<Failed>(&one);
    if (why != nullptr && (worst == nullptr || weight(*why) > weight(*worst))) {
      worst = why;
    }
  }
  Failed why = worst != nullptr ? *worst : Failed{errc::store_unavailable, false, {}};
  // One that does not know the name may be new; only all of them together are sure.
  if (why.code == errc::invalid_url &&
      !std::all_of(unknown_.begin(), unknown_.end(), [](bool one) { return one; })) {
    why.code = errc::store_unavailable;
  }
  return why;
}

}  // namespace holdfast::redis
