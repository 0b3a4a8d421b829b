// Random steps on one name of the LockTable against what each party may believe afterwards.
#include "store/memory/lock_table.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

namespace holdfast {
namespace {

using namespace std::chrono_literals;

constexpr Duration ttl = 1s;
constexpr Duration liveness = 700ms;

// What follows from the answers alone: who may trust, who waits in which order, who is gone.
class Beliefs {
 public:
  void granted(const OwnerId& owner, Fence fence, Instant until, Instant now) {
    RC_ASSERT(!tombstones_.contains(owner) || now >= tombstones_[owner]);
    const bool held = holder_ == owner && trust_[owner] > now;
    for (const auto& [other, trusted] : trust_) {
      RC_ASSERT(other == owner || trusted <= now);  // no two trust at one instant
    }
    for (const Waiter& waiter : queue_) {
      if (waiter.owner == owner) {
        break;
      }
      RC_ASSERT(waiter.alive_until < now || held);  // nobody living was overtaken
    }
    RC_ASSERT((held && fence == fence_) || (!held && fence > fence_));
    holder_ = owner;
    fence_ = fence;
    trust_[owner] = until;
    leave(owner);
  }
  void beat(const OwnerId& owner, Instant now) {
    const auto place = std::find_if(queue_.begin(), queue_.end(),
                                    [&](const Waiter& waiter) { return waiter.owner == owner; });
    if (place != queue_.end() && place->alive_until >= now) {
      place->alive_until = now + liveness;
      return;
    }
    leave(owner);
    queue_.push_back({owner, now + liveness});
  }
  void renewed(const OwnerId& owner, Duration granted, Instant now) {
    RC_ASSERT(holder_ == owner);
    trust_[owner] = now + granted;
  }
  void gave_back(const OwnerId& owner, bool tombstone, Instant now) {
    trust_.erase(owner);
    leave(owner);
    if (holder_ == owner) {
      holder_ = OwnerId{};
    }
    if (tombstone) {
      tombstones_[owner] = now + ttl;
    }
  }
  // An operator took it away at once: its holder's trust is no longer the store's word.
  void broken_now() {
    trust_.clear();
    holder_ = OwnerId{};
  }
  Instant alive_until(const OwnerId& owner) const {
    for (const Waiter& waiter : queue_) {
      if (waiter.owner == owner) {
        return waiter.alive_until;
      }
    }
    return Instant{};
  }

 private:
  struct Waiter {
    OwnerId owner{};
    Instant alive_until{};
  };
  void leave(const OwnerId& owner) {
    std::erase_if(queue_, [&](const Waiter& waiter) { return waiter.owner == owner; });
  }

  OwnerId holder_{};
  Fence fence_ = Fence::none;
  std::map<OwnerId, Instant> trust_{};
  std::map<OwnerId, Instant> tombstones_{};
  std::vector<Waiter> queue_{};
};

class Walk {
 public:
  void step() {
    now_ += std::chrono::milliseconds{*rc::gen::inRange(0, 400)};
    Claim claim{.name = "job", .ttl = ttl, .liveness = liveness};
    claim.owner.bytes[0] = static_cast<std::uint8_t>(*rc::gen::inRange(1, 6));
    LockTable::Notices notices;
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
      case 1:
      case 2:
        acquire(claim, Store::Queueing::yes, notices);
        return;
      case 3:
        acquire(claim, Store::Queueing::no, notices);
        return;
      case 4:
      case 5:
        renew(claim, notices);
        return;
      case 6:
        withdraw(claim, notices);
        return;
      default:
        beliefs_.broken_now();
        table_.break_name("job", BreakMode::now, reading(), notices);
        tell(notices);
    }
  }

 private:
  // The wall clock of the store stands still, so that fences rise by counting alone.
  LockTable::Reading reading() const { return {now_, 1'000'000}; }

  void acquire(const Claim& claim, Store::Queueing queueing, LockTable::Notices& notices) {
    const AcquireReply reply = table_.acquire(claim, queueing, reading(), notices);
    tell(notices);
    if (const auto* granted = std::get_if<Granted>(&reply)) {
      beliefs_.granted(claim.owner, granted->fence, now_ + granted->ttl, now_);
    } else if (std::holds_alternative<Queued>(reply)) {
      beliefs_.beat(claim.owner, now_);
    }
  }
  void renew(const Claim& claim, LockTable::Notices& notices) {
    const RenewReply reply = table_.renew(claim, reading(), notices);
    tell(notices);
    if (const auto* renewed = std::get_if<Renewed>(&reply)) {
      beliefs_.renewed(claim.owner, renewed->ttl, now_);
    }
  }
  void withdraw(const Claim& claim, LockTable::Notices& notices) {
    const bool tombstone = *rc::gen::arbitrary<bool>();
    const WithdrawOptions options{.keep_min_hold = false, .tombstone = tombstone};
    table_.withdraw(claim, options, reading(), notices);
    beliefs_.gave_back(claim.owner, tombstone, now_);
    tell(notices);
  }
  void tell(const LockTable::Notices& notices) {
    for (const StoreEvent& notice : notices) {
      if (const auto* handed = std::get_if<HandedOff>(&notice)) {
        const Instant until = beliefs_.alive_until(handed->owner);
        RC_ASSERT(until >= now_);  // only to a living waiter
        beliefs_.granted(handed->owner, handed->fence, until, now_);
      }
    }
  }

  Instant now_{1h};
  LockTable table_{};
  Beliefs beliefs_{};
};

RC_GTEST_PROP(LockTableSteps, KeepEveryPromise, ()) {
  Walk walk;
  const int steps = *rc::gen::inRange(1, 120);
  for (int i = 0; i < steps; ++i) {
    walk.step();
  }
}

}  // namespace
}  // namespace holdfast
