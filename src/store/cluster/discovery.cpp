#include "store/cluster/discovery.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::cluster {

void Discovery::want(Instant now, Why why) {
  if (looking_) {
    return;
  }
  Instant at = now;
  if (why != Why::start) {
    at = std::max(now, ended_at_ + (why == Why::move ? after_move : after_trouble));
  }
  wanted_at_ = std::min(wanted_at_, std::max(at, not_before_));
}

void Discovery::begin(const std::vector<Address>& known, Instant now) {
  looking_ = true;
  wanted_at_ = Instant::max();
  unanswered_.clear();
  untried_.clear();
  const auto add = [this](const Address& node) {
    if (std::ranges::find(untried_, node) == untried_.end()) {
      untried_.push_back(node);
    }
  };
  const auto is_bad = [this](const Address& node) {
    return std::ranges::find(bad_, node) != bad_.end();
  };
  if (good_ && std::ranges::find(known, *good_) != known.end() && !is_bad(*good_)) {
    add(*good_);
  }
  for (const bool bad : {false, true}) {
    for (const std::vector<Address>* nodes :
         {&known, static_cast<const std::vector<Address>*>(&seeds_)}) {
      for (const Address& node : *nodes) {
        if (is_bad(node) == bad) {
          add(node);
        }
      }
    }
  }
  next_at_ = now;
}

std::optional<Address> Discovery::next(const std::vector<Address>& known, Instant now) {
  if (!looking_) {
    if (now < wanted_at_) {
      return std::nullopt;
    }
    begin(known, now);
  }
  if (now < next_at_ || untried_.empty()) {
    return std::nullopt;
  }
  Address node = std::move(untried_.front());
  untried_.pop_front();
  unanswered_.push_back(node);
  next_at_ = now + silence;
  return node;
}

void Discovery::end(Instant now) noexcept {
  looking_ = false;
  ended_at_ = now;
  untried_.clear();
}

void Discovery::on_layout(const Address& from, Instant now) {
  good_ = from;
  std::erase(bad_, from);
  pause_ = pause_first;
  not_before_ = now;
  end(now);
}

bool Discovery::on_failure(const Address& from, Instant now) {
  if (std::ranges::find(bad_, from) == bad_.end()) {
    bad_.push_back(from);
  }
  if (!looking_ || std::erase(unanswered_, from) == 0) {
    return false;
  }
  next_at_ = now;
  if (!unanswered_.empty() || !untried_.empty()) {
    return false;
  }
  end(now);
  bad_.clear();
  not_before_ = now + pause_;
  pause_ = std::min(pause_ * 2, pause_longest);
  return true;
}

Instant Discovery::wake_at() const noexcept {
  if (!looking_) {
    return wanted_at_;
  }
  return untried_.empty() ? Instant::max() : next_at_;
}

}  // namespace holdfast::cluster
