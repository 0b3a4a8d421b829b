// One life of one reader: it reads what was paid, adds it up for a while, reads again, and has a
// report that makes sense only if nobody paid in between. With a lock, all of that under it.
#pragma once

#include "sim/runtime.hpp"
#include "sim/stories/claimant.hpp"
#include "sim/stories/job.hpp"
#include "sim/stories/ledger.hpp"
#include "sim/stories/trial.hpp"
#include "sim/timeline/recorder.hpp"

#include <functional>
#include <memory>

namespace holdfast::sim {

class Reader final : public Job {
 public:
  // All but the last outlive it.
  Reader(const Trial& trial, Ledger& ledger, Recorder& recorder, SimRuntime& runtime, NodeId node,
         std::unique_ptr<Claimant> claimant);
  ~Reader() override = default;

  void start(Duration delay) override;
  bool finished() const noexcept override { return finished_; }

 private:
  void want();
  void read(std::function<void(Ledger::Total)> then);
  void add_up(const Ledger::Total& before);
  void report(const Ledger::Total& before, const Ledger::Total& after);
  void drop();
  void later(Duration delay, std::function<void()> event);

  const Trial& trial_;
  Ledger& ledger_;
  Recorder& recorder_;
  SimRuntime& runtime_;
  NodeId node_;
  std::unique_ptr<Claimant> claimant_;
  std::uint64_t turn_ = 0;  // events of earlier turns have no say
  bool finished_ = false;
  std::shared_ptr<Reader*> self_ = std::make_shared<Reader*>(this);
};

}  // namespace holdfast::sim
