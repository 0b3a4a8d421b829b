#include "sim/stories/instance.hpp"

#include <utility>

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;

constexpr Duration gap = milliseconds{3};  // from looking at the lease to sending the write
constexpr Duration answer_max = std::chrono::seconds{2};
constexpr Duration look_again = milliseconds{200};
constexpr Duration rest = milliseconds{300};  // before wanting the lock once more

}  // namespace

Instance::Instance(const Trial& trial, World& world, Ledger& ledger, Recorder& recorder,
                   SimRuntime& runtime, NodeId node, Reached reached,
                   std::unique_ptr<Claimant> claimant)
    : trial_(trial),
      world_(world),
      ledger_(ledger),
      recorder_(recorder),
      runtime_(runtime),
      node_(node),
      reached_(std::move(reached)),
      claimant_(std::move(claimant)) {}

void Instance::later(Duration delay, std::function<void()> event) {
  runtime_.call_at(runtime_.now() + delay, [this, turn = turn_, event = std::move(event)] {
    if (turn == turn_) {
      event();
    }
  });
}

template <class Answer>
std::function<void(Answer)> Instance::answer(std::function<void(Answer)> event) {
  return [weak = std::weak_ptr{self_}, turn = turn_, event = std::move(event)](Answer given) {
    const auto self = weak.lock();
    if (!self) {
      return;  // its process is gone
    }
    Instance& instance = **self;
    instance.runtime_.post([&instance, turn, event, given] {
      if (turn == instance.turn_) {
        ++instance.turn_;  // the timer that waited for it has no say any more
        event(given);
      }
    });
  };
}

void Instance::start(Duration delay) {
  later(delay, [this] { want(); });
}

void Instance::want() {
  ++turn_;
  paid_this_turn_ = 0;
  claimant_->want(
      [this] {
        reached_(Moment::granted);
        later(gap, [this] { next(); });
      },
      [this] { drop(); });
}

void Instance::next() {
  ++turn_;
  later(answer_max, [this] { next(); });
  ledger_.read(node_, claimant_->fence(), answer<Ledger::Page>([this](Ledger::Page page) {
                 if (page.refused) {
                   refused();
                 } else if (page.order) {
                   work(*page.order);
                 } else if (page.all_paid) {
                   give_back(true);
                 } else {
                   later(look_again, [this] { next(); });
                 }
               }));
}

void Instance::work(const Ledger::Order& order) {
  recorder_.works(node_, true);
  const Duration tenth = trial_.work / 10;
  later(world_.random().between(trial_.work - tenth, trial_.work + tenth),
        [this, order] { look_and_write(order); });
}

void Instance::look_and_write(const Ledger::Order& order) {
  if (!claimant_->valid()) {
    claimant_->release();
    drop();
    return;
  }
  reached_(Moment::before_write);
  later(gap, [this, order] { write(order); });
}

void Instance::write(const Ledger::Order& order) {
  ++turn_;
  recorder_.works(node_, false);
  later(answer_max, [this] { next(); });
  ledger_.pay({node_, claimant_->fence(), order},
              answer<Ledger::Outcome>([this](Ledger::Outcome outcome) { written(outcome); }));
}

void Instance::written(Ledger::Outcome outcome) {
  if (outcome == Ledger::Outcome::refused && trial_.protection == Protection::fence) {
    refused();
  } else if (++paid_this_turn_ == trial_.orders_per_turn) {
    give_back(false);
  } else {
    next();
  }
}

void Instance::give_back(bool for_good) {
  reached_(Moment::before_release);
  later(gap, [this, for_good] {
    ++turn_;
    claimant_->release();
    finished_ = for_good;
    if (!for_good) {
      later(rest, [this] { want(); });
    }
  });
}

void Instance::refused() {
  claimant_->stale();
  claimant_->release();
  drop();
}

void Instance::drop() {
  ++turn_;
  recorder_.works(node_, false);
  later(rest, [this] { want(); });
}

}  // namespace holdfast::sim
