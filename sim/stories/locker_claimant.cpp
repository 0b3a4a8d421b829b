#include "sim/stories/claimants.hpp"

namespace holdfast::sim {

namespace {

class LockerClaimant final : public Claimant {
 public:
  LockerClaimant(const Trial& trial, Locker& locker, Mode mode) : locker_(locker) {
    wait_.use.mode = mode;
    wait_.name = "payout";
    wait_.options.ttl = trial.ttl;
    wait_.options.safety_margin = trial.margin;
    wait_.options.renew = trial.watchdog;
    if (trial.lock_delay > Duration{0}) {
      wait_.options.lock_delay = trial.lock_delay;
    }
    locker_.when_lost([this](const LeasePtr& lease) { lost(lease); });
  }

  void want(std::function<void()> granted, std::function<void()> lost) override {
    lost_ = std::move(lost);
    locker_.acquire(wait_, [this, granted = std::move(granted)](LeasePtr lease, std::error_code) {
      if (lease) {
        lease_ = std::move(lease);
        granted();
      }
    });
  }

  bool valid() const override { return lease_ && locker_.valid(lease_); }
  Fence fence() const override { return lease_ ? lease_->fence : Fence::none; }
  void stale() override {
    if (lease_) {
      locker_.engine().report_stale(lease_->claim.owner);
    }
  }
  void release() override {
    if (lease_) {
      locker_.release(lease_);
      lease_.reset();
    }
  }

 private:
  void lost(const LeasePtr& lease) {
    if (lease == lease_ && lost_) {
      // User code hears of it off the loop, then destroys its lease, which asks for a release.
      SimRuntime& runtime = locker_.runtime();
      runtime.call_at(runtime.now(), [this, lease] {
        if (lease == lease_) {
          release();
          lost_();
        }
      });
    }
  }

  Locker& locker_;
  LockerWait wait_{};
  LeasePtr lease_{};
  std::function<void()> lost_{};
};

class NoClaimant final : public Claimant {
 public:
  explicit NoClaimant(SimRuntime& runtime) : runtime_(runtime) {}
  void want(std::function<void()> granted, std::function<void()> /*lost*/) override {
    runtime_.post([granted = std::move(granted)] { granted(); });
  }
  bool valid() const override { return true; }
  Fence fence() const override { return Fence::none; }
  void stale() override {}
  void release() override {}

 private:
  SimRuntime& runtime_;
};

}  // namespace

std::unique_ptr<Claimant> make_locker_claimant(const Trial& trial, Locker& locker, Mode mode) {
  return std::make_unique<LockerClaimant>(trial, locker, mode);
}

std::unique_ptr<Claimant> make_no_claimant(SimRuntime& runtime) {
  return std::make_unique<NoClaimant>(runtime);
}

}  // namespace holdfast::sim
