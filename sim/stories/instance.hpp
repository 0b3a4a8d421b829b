// One life of one instance: it waits for the lock, pays order after order while it may believe that
// it has the lock, and gives it back. Between looking at its lease and sending a write it may stand
// still for any time; nothing can prevent that.
#pragma once

#include "sim/runtime.hpp"
#include "sim/stories/claimants.hpp"
#include "sim/stories/job.hpp"
#include "sim/stories/ledger.hpp"
#include "sim/stories/trial.hpp"
#include "sim/timeline/recorder.hpp"

#include <functional>
#include <memory>

namespace holdfast::sim {

class Instance final : public Job {
 public:
  // All but the last outlive it.
  Instance(const Trial& trial, World& world, Ledger& ledger, Recorder& recorder,
           SimRuntime& runtime, NodeId node, Reached reached, std::unique_ptr<Claimant> claimant);
  ~Instance() override = default;

  void start(Duration delay) override;
  bool finished() const noexcept override { return finished_; }

 private:
  void want();
  void next();
  void work(const Ledger::Order& order);
  void look_and_write(const Ledger::Order& order);
  void write(const Ledger::Order& order);
  void written(Ledger::Outcome outcome);
  void give_back(bool for_good);
  void refused();  // the guard knows a later holder
  void drop();     // the lock is gone
  // Runs `event` after `delay` on the node's clock if the job is still at this.
  void later(Duration delay, std::function<void()> event);
  // An answer of the database as an event of the node, if the job is still at this.
  template <class Answer>
  std::function<void(Answer)> answer(std::function<void(Answer)> event);

  const Trial& trial_;
  World& world_;
  Ledger& ledger_;
  Recorder& recorder_;
  SimRuntime& runtime_;
  NodeId node_;
  Reached reached_;
  std::unique_ptr<Claimant> claimant_;
  std::uint64_t turn_ = 0;  // events of earlier turns have no say
  std::size_t paid_this_turn_ = 0;
  bool finished_ = false;
  std::shared_ptr<Instance*> self_ = std::make_shared<Instance*>(this);
};

}  // namespace holdfast::sim
