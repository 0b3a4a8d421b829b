#include "runtime/held_back.hpp"

#include <algorithm>
#include <utility>

namespace holdfast {

void HeldBack::add(Instant latest, UniqueFunction<void()> go) {
  waiting_.push_back({latest, std::move(go)});
  arm();
}

void HeldBack::clear() noexcept {
  runtime_.cancel(std::exchange(timer_, 0));
  waiting_.clear();
}

bool HeldBack::take_went_unheard() noexcept { return std::exchange(went_unheard_, false); }

void HeldBack::release(bool overdue_only) {
  std::vector<One> now_free;
  std::vector<One> later;
  const Instant now = runtime_.now();
  for (One& one : waiting_) {
    (overdue_only && one.latest > now ? later : now_free).push_back(std::move(one));
  }
  waiting_ = std::move(later);
  went_unheard_ = went_unheard_ || (overdue_only && !now_free.empty());
  arm();
  const std::weak_ptr<char> alive = alive_;
  for (One& one : now_free) {
    if (alive.expired()) {
      return;
    }
    one.go();
  }
}

void HeldBack::arm() {
  runtime_.cancel(std::exchange(timer_, 0));
  if (waiting_.empty()) {
    return;
  }
  const auto earliest =
      std::min_element(waiting_.begin(), waiting_.end(),
                       [](const One& a, const One& b) { return a.latest < b.latest; });
  timer_ = runtime_.call_at(earliest->latest, [this] {
    timer_ = 0;
    release(true);
  });
}

}  // namespace holdfast
