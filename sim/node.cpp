#include "sim/node.hpp"

namespace holdfast::sim {

namespace {

constexpr Duration shut_down_max = std::chrono::seconds{2};

}  // namespace

Node::Node(Surroundings& around, const Options& options, NodeId id, std::int64_t drift_ppm)
    : around_(around),
      options_(options),
      id_(id),
      clock_(around.world,
             Instant{around.world.random().between(Duration{std::chrono::seconds{1}},
                                                   Duration{std::chrono::hours{1000}})},
             drift_ppm) {
  boot();
}

void Node::boot() {
  if (life_) {
    boots_again_ = life_->ending;
    return;
  }
  boots_again_ = false;
  ++lives_;
  life_ = std::make_unique<Life>(around_, options_, id_, clock_);
  if (runs_tasks_) {
    life_->tasks.emplace(around_, options_, life_->locker, winding_down_);
  }
}

void Node::crash() {
  if (life_) {
    life_.reset();
    around_.history.record(Crashed{id_});
  }
}

void Node::shut_down() {
  if (!life_ || life_->ending) {
    return;
  }
  life_->ending = true;
  if (life_->tasks) {
    life_->tasks->stop();
  }
  around_.world.note("n" + std::to_string(id_) + " shuts down");
  const auto end = [this, life = lives_](bool in_order) {
    if (life_ && life == lives_) {
      if (in_order) {
        life_.reset();
      } else {
        crash();
      }
      if (boots_again_) {
        boot();
      }
    }
  };
  // Not from inside a callback of the runtime that goes away.
  life_->locker.close([this, end] { around_.world.after(Duration{0}, [end] { end(true); }); });
  around_.world.after(shut_down_max, [end] { end(false); });
}

void Node::pause() {
  if (life_ && !life_->runtime.paused()) {
    life_->runtime.pause();
    around_.history.record(Paused{id_, true});
  }
}

void Node::resume() {
  if (paused()) {
    life_->runtime.resume();
    around_.history.record(Paused{id_, false});
  }
}

void Node::change_clock(std::int64_t drift_ppm, Duration jump) {
  clock_.set_drift(drift_ppm);
  clock_.jump(jump);
  if (life_) {
    life_->runtime.clock_changed();
    life_->locker.clock_changed();
  }
}

void Node::run_tasks() {
  runs_tasks_ = true;
  if (life_ && !life_->tasks) {
    life_->tasks.emplace(around_, options_, life_->locker, winding_down_);
  }
}

void Node::wind_down() {
  winding_down_ = true;
  if (life_ && life_->tasks && !life_->ending) {
    life_->tasks->wind_down();
  }
}

bool Node::done() const { return life_ && life_->tasks && life_->tasks->done(); }

}  // namespace holdfast::sim
