#include "sim/stories/reader.hpp"

#include <utility>

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;

constexpr Duration answer_max = std::chrono::seconds{2};
constexpr Duration rest = milliseconds{600};  // before the next report

}  // namespace

Reader::Reader(const Trial& trial, Ledger& ledger, Recorder& recorder, SimRuntime& runtime,
               NodeId node, std::unique_ptr<Claimant> claimant)
    : trial_(trial),
      ledger_(ledger),
      recorder_(recorder),
      runtime_(runtime),
      node_(node),
      claimant_(std::move(claimant)) {}

void Reader::later(Duration delay, std::function<void()> event) {
  runtime_.call_at(runtime_.now() + delay, [this, turn = turn_, event = std::move(event)] {
    if (turn == turn_) {
      event();
    }
  });
}

void Reader::start(Duration delay) {
  later(delay, [this] { want(); });
}

void Reader::want() {
  ++turn_;
  claimant_->want(
      [this] {
        recorder_.works(node_, true);
        read([this](const Ledger::Total& total) { add_up(total); });
      },
      [this] { drop(); });
}

void Reader::read(std::function<void(Ledger::Total)> then) {
  ++turn_;
  later(answer_max, [this] {
    claimant_->release();
    drop();
  });
  ledger_.add_up(node_, [weak = std::weak_ptr{self_}, turn = turn_,
                         then = std::move(then)](const Ledger::Total& total) {
    const auto self = weak.lock();
    if (!self) {
      return;  // its process is gone
    }
    Reader& reader = **self;
    reader.runtime_.post([&reader, turn, then, total] {
      if (turn == reader.turn_) {
        ++reader.turn_;
        then(total);
      }
    });
  });
}

void Reader::add_up(const Ledger::Total& before) {
  later(trial_.work, [this, before] {
    read([this, before](const Ledger::Total& after) { report(before, after); });
  });
}

void Reader::report(const Ledger::Total& before, const Ledger::Total& after) {
  recorder_.works(node_, false);
  ledger_.report(node_, before, after);
  claimant_->release();
  finished_ = after.all_paid;
  if (!finished_) {
    drop();
  }
}

void Reader::drop() {
  ++turn_;
  recorder_.works(node_, false);
  later(rest, [this] { want(); });
}

}  // namespace holdfast::sim
