// What people write when they need a lock until tomorrow. Its faults are its purpose: it believes
// that it has the lock until it gives it back, whatever the clock says.
#include "sim/stories/claimants.hpp"

namespace holdfast::sim {

namespace {

constexpr Duration poll_min = std::chrono::milliseconds{100};
constexpr Duration poll_max = std::chrono::milliseconds{200};
constexpr Duration answer_max = std::chrono::seconds{1};
constexpr Duration between_steps = std::chrono::milliseconds{1};

class PlainClaimant final : public Claimant {
 public:
  PlainClaimant(const Trial& trial, World& world, PlainServer& server, Recorder& recorder,
                SimRuntime& runtime, NodeId node, Reached reached)
      : trial_(trial),
        world_(world),
        server_(server),
        recorder_(recorder),
        runtime_(runtime),
        node_(node),
        reached_(std::move(reached)) {}

  void want(std::function<void()> granted, std::function<void()> /*lost*/) override {
    granted_ = std::move(granted);
    runtime_.random_bytes(owner_.bytes);
    recorder_.hear(Asked{node_, Verb::acquire, name, owner_, attempt(), trial_.ttl});
    recorder_.hear(Wanted{node_, attempt(), name, WorldTime::max()});
    ask();
  }

  bool valid() const override { return held_; }  // it never asks anybody
  Fence fence() const override { return fence_; }
  void stale() override {}

  void release() override {
    if (!held_) {
      return;
    }
    held_ = false;
    recorder_.hear(Ended{node_, name, owner_, Ending::released, {}});
    const OwnerId owner = owner_;
    if (trial_.owner_check) {
      server_.send(
          node_, [owner](PlainServer& s) { return s.remove_own(owner); }, [](std::int64_t) {});
    } else {
      server_.send(
          node_, [owner](PlainServer& s) { return s.remove(owner); }, [](std::int64_t) {});
    }
  }

 private:
  AttemptId attempt() const { return node_ + 1; }

  // Sends a command; `then` runs on the node with the answer, `else_` if none came in time.
  void call(PlainServer::Command command, std::function<void(std::int64_t)> then,
            std::function<void()> otherwise) {
    const std::uint64_t turn = ++turn_;
    server_.send(node_, std::move(command),
                 [weak = std::weak_ptr{self_}, turn, then = std::move(then)](std::int64_t result) {
                   if (const auto self = weak.lock()) {
                     PlainClaimant& claimant = **self;
                     claimant.runtime_.post([&claimant, turn, then, result] {
                       if (claimant.turn_ == turn) {
                         ++claimant.turn_;
                         then(result);
                       }
                     });
                   }
                 });
    runtime_.call_at(runtime_.now() + answer_max, [this, turn, otherwise = std::move(otherwise)] {
      if (turn_ == turn) {
        ++turn_;
        otherwise();
      }
    });
  }

  void ask() {
    const bool two_steps = trial_.protocol == Protocol::setnx_expire;
    const Duration ttl = two_steps ? Duration{0} : trial_.ttl;
    call([owner = owner_, ttl](PlainServer& s) { return s.set_if_absent(owner, ttl); },
         [this, two_steps](std::int64_t done) {
           if (done == 0) {
             ask_later();
           } else if (two_steps) {
             reached_(Moment::between_steps);
             runtime_.call_at(runtime_.now() + between_steps, [this] { set_expiry(); });
           } else {
             take_number();
           }
         },
         [this] { ask_later(); });
  }

  void ask_later() {
    runtime_.call_at(runtime_.now() + world_.random().between(poll_min, poll_max),
                     [this] { ask(); });
  }

  void set_expiry() {
    const auto next = [this] { take_number(); };
    call([ttl = trial_.ttl](PlainServer& s) { return s.expire(ttl); },
         [next](std::int64_t) { next(); }, next);
  }

  void take_number() {
    if (!trial_.counter) {
      hold();
      return;
    }
    call([](PlainServer& s) { return s.increment(); },
         [this](std::int64_t number) {
           fence_ = static_cast<Fence>(number);
           hold();
         },
         [this] { take_number(); });
  }

  void hold() {
    held_ = true;
    recorder_.hear(
        Trusts{node_, attempt(), name, owner_, fence_, WorldTime::max(), true, trial_.ttl});
    if (trial_.blind_renewal) {
      renew_later(owner_);
    }
    granted_();
  }

  void renew_later(const OwnerId& owner) {
    runtime_.call_at(runtime_.now() + trial_.ttl / 3, [this, owner] {
      if (held_ && owner == owner_) {
        server_.send(
            node_, [ttl = trial_.ttl](PlainServer& s) { return s.expire(ttl); },
            [](std::int64_t) {});
        renew_later(owner);
      }
    });
  }

  static constexpr const char* name = "payout";

  const Trial& trial_;
  World& world_;
  PlainServer& server_;
  Recorder& recorder_;
  SimRuntime& runtime_;
  NodeId node_;
  Reached reached_;
  OwnerId owner_{};
  Fence fence_ = Fence::none;
  bool held_ = false;
  std::uint64_t turn_ = 0;
  std::function<void()> granted_{};
  std::shared_ptr<PlainClaimant*> self_ = std::make_shared<PlainClaimant*>(this);
};

}  // namespace

std::unique_ptr<Claimant> make_plain_claimant(const Trial& trial, World& world, PlainServer& server,
                                              Recorder& recorder, SimRuntime& runtime, NodeId node,
                                              Reached reached) {
  return std::make_unique<PlainClaimant>(trial, world, server, recorder, runtime, node,
                                         std::move(reached));
}

}  // namespace holdfast::sim
