#include "store/cluster/journey.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::cluster {

Journey::Next Journey::pause(Instant now) {
  to_.reset();
  asking_ = false;
  wake_at_ = std::min(now + pause_, deadline_);
  pause_ = std::min(pause_ * 2, pause_longest);
  return now >= deadline_ ? Next::finish : Next::wait;
}

Journey::Next Journey::on_redirection(const Redirection& redirection, Failed failed, Instant now) {
  using Kind = Redirection::Kind;
  last_ = std::move(failed);
  may_have_had_effect_ = may_have_had_effect_ || redirection.may_have_had_effect;
  if (redirection.kind == Kind::none) {
    return Next::finish;
  }
  const bool elsewhere = redirection.kind == Kind::moved || redirection.kind == Kind::ask;
  if (!elsewhere || ++hops_ > hops_max) {
    hops_ = 0;
    return pause(now);
  }
  to_ = redirection.to;
  asking_ = redirection.kind == Kind::ask;
  return now >= deadline_ ? Next::finish : Next::send;
}

Journey::Next Journey::on_unreachable(Failed failed, Instant now) {
  last_ = std::move(failed);
  return pause(now);
}

Journey::Next Journey::on_time(Instant now) { return now >= deadline_ ? Next::finish : Next::send; }

Failed Journey::failure() const {
  Failed failed = last_;
  failed.may_have_had_effect = failed.may_have_had_effect || may_have_had_effect_;
  return failed;
}

}  // namespace holdfast::cluster
