#include "sim/stories/experiment.hpp"

#include "sim/stories/director.hpp"
#include "sim/stories/instance.hpp"
#include "sim/stories/reader.hpp"
#include "sim/universe.hpp"

#include <algorithm>
#include <memory>

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;

constexpr Duration tail = milliseconds{400};  // what comes after the last event, to be seen

Options options_of(const Trial& trial) {
  Options options;
  options.seed = trial.seed;
  options.scenario = "story";
  options.nodes = trial.instances;
  options.lateness = milliseconds{1};
  options.drift_ppm = trial.drift_ppm;
  options.network.latency_min = milliseconds{1};
  options.network.latency_max = milliseconds{8};
  options.network.loss_per_mille = trial.loss_per_mille;
  options.server.replication_lag = trial.replica_lag;
  options.server.replicas = trial.replicas;
  options.server.acks = trial.acks;
  options.quorum.nodes = trial.nodes;
  options.quorum.fences_of_time = !trial.one_round;
  options.quorum.one_round = trial.one_round;
  return options;
}

std::string store_label(const Trial& trial) {
  if (trial.nodes > 0) {
    return "quorum of " + std::to_string(trial.nodes);
  }
  return trial.protocol == Protocol::holdfast ? "the store" : "key-value server";
}

std::string database_label(Protection protection) {
  switch (protection) {
    case Protection::none:
      return "database";
    case Protection::fence:
      return "database, guarded";
    case Protection::unique_key:
      return "database, unique key";
    case Protection::version:
      return "database, versions";
    case Protection::skip_locked:
      return "database, row locks";
  }
  return {};
}

class Experiment {
 public:
  explicit Experiment(const Trial& trial)
      : trial_(trial),
        universe_(options_of(trial)),
        recorder_(universe_.world, trial.instances, trial.protocol != Protocol::none,
                  store_label(trial), database_label(trial.protection)),
        plain_(universe_.world, universe_.network, recorder_, trial.drift_ppm, trial.replica_lag),
        ledger_(universe_.world, universe_.network, recorder_, trial.protection, trial.orders),
        director_(
            trial_, universe_, plain_, recorder_, [this](NodeId node) { crash(node); },
            [this](NodeId node) { restart(node); }),
        jobs_(trial.instances) {
    universe_.history.add(recorder_.ear());
    universe_.network.when_lost([this](Place a, Place b) { recorder_.message_lost(a, b); });
  }
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;
  ~Experiment() = default;

  Timeline play() {
    director_.begin();
    for (NodeId node = 0; node < trial_.instances; ++node) {
      const auto order = static_cast<std::int64_t>(node);
      begin_job(node, universe_.world.random().between(Duration{milliseconds{20}},
                                                       Duration{milliseconds{60}}) +
                          order * milliseconds{80});
    }
    const WorldTime end = universe_.world.now() + trial_.length;
    while (!over() && universe_.world.step(end)) {
    }
    if (over()) {  // else the length cut it off, and unfinished waits are nobody's fault
      universe_.finish();
    }
    universe_.run_for(tail);
    return told();
  }

 private:
  void begin_job(NodeId node, Duration delay) {
    Locker& locker = universe_.nodes[node]->locker();
    if (node + trial_.readers >= trial_.instances) {
      jobs_[node] = std::make_unique<Reader>(trial_, ledger_, recorder_, locker.runtime(), node,
                                             claimant_of_reader(locker));
      jobs_[node]->start(delay);
      return;
    }
    const Reached reached = [this, node](Moment moment) { director_.reached(node, moment); };
    jobs_[node] =
        std::make_unique<Instance>(trial_, universe_.world, ledger_, recorder_, locker.runtime(),
                                   node, reached, claimant(node, locker, reached));
    jobs_[node]->start(delay);
  }

  std::unique_ptr<Claimant> claimant_of_reader(Locker& locker) {
    if (trial_.reading == Reading::unlocked || trial_.protocol != Protocol::holdfast) {
      return make_no_claimant(locker.runtime());
    }
    return make_locker_claimant(trial_, locker,
                                trial_.reading == Reading::shared ? Mode::shared : Mode::exclusive);
  }

  std::unique_ptr<Claimant> claimant(NodeId node, Locker& locker, const Reached& reached) {
    switch (trial_.protocol) {
      case Protocol::holdfast:
        return make_locker_claimant(trial_, locker);
      case Protocol::setnx_expire:
      case Protocol::set_px:
        return make_plain_claimant(trial_, universe_.world, plain_, recorder_, locker.runtime(),
                                   node, reached);
      case Protocol::none:
        break;
    }
    return make_no_claimant(locker.runtime());
  }

  void crash(NodeId node) {
    if (universe_.nodes[node]->up()) {
      jobs_[node].reset();
      universe_.nodes[node]->crash();
      ledger_.disconnect(node);
    }
  }

  void restart(NodeId node) {
    if (!universe_.nodes[node]->up()) {
      universe_.nodes[node]->boot();
      recorder_.started(node);
      begin_job(node, milliseconds{50});
    }
  }

  bool over() const {
    return director_.done() && ledger_.idle() &&
           std::ranges::all_of(jobs_, [](const auto& job) { return job && job->finished(); });
  }

  Timeline told() {
    for (const Violation& violation : universe_.history.violations()) {
      recorder_.mark(MarkKind::objected, recorder_.store_lane(), std::nullopt,
                     violation.checker + ": " + violation.what);
    }
    const Duration end = universe_.world.now().time_since_epoch();
    const bool locks = trial_.protocol != Protocol::none;
    Timeline timeline = recorder_.finish(locks ? std::min(ledger_.done_at(), end) : Duration{0});
    timeline.seed = trial_.seed;
    ledger_.add_to(timeline.verdict);
    Verdict& verdict = timeline.verdict;
    verdict.objections = universe_.history.violations().size();
    verdict.robbed =
        static_cast<std::size_t>(std::ranges::count(timeline.marks, MarkKind::robbed, &Mark::kind));
    verdict.broken = verdict.double_payouts > 0 || verdict.torn > 0 ||
                     verdict.paid < verdict.orders || verdict.idle > trial_.idle_max ||
                     verdict.objections > 0;
    return timeline;
  }

  Trial trial_;
  Universe universe_;
  Recorder recorder_;
  PlainServer plain_;
  Ledger ledger_;
  Director director_;
  std::vector<std::unique_ptr<Job>> jobs_;
};

}  // namespace

std::string why_invalid(const Trial& trial) {
  if (trial.margin && *trial.margin * 2 >= trial.ttl) {
    return "the margin must be below half of the TTL";
  }
  if (trial.protection == Protection::fence && trial.protocol != Protocol::holdfast &&
      !trial.counter) {
    return "a guard needs fences: take protocol holdfast, or a counter";
  }
  const bool several = trial.replicas > 0 || trial.nodes > 0;
  if (several && trial.protocol != Protocol::holdfast) {
    return "replicas and nodes are of protocol holdfast";
  }
  if (several && (trial.failover || trial.store_clock_jump > Duration{0} ||
                  (trial.replicas > 0 && trial.nodes > 0))) {
    return "failover and clock of the store are of one server; take left-behind, node-jump or so";
  }
  if (trial.readers >= trial.instances) {
    return "somebody has to write: fewer readers than instances";
  }
  if (trial.readers > 0 && (trial.nodes > 0 || trial.protocol != Protocol::holdfast)) {
    return "readers are of protocol holdfast, on one store";
  }
  if (trial.left_behind && trial.replicas == 0) {
    return "for left-behind there must be replicas";
  }
  if (trial.acks > trial.replicas) {
    return "there are not so many replicas to acknowledge";
  }
  if (trial.nodes == 0 && (trial.quorum_jump > Duration{0} || trial.quorum_forget ||
                           trial.dead_nodes || trial.one_round)) {
    return "that is of a quorum: say how many nodes";
  }
  if (trial.counter && (trial.protocol == Protocol::holdfast || trial.protocol == Protocol::none)) {
    return "the counter belongs to the wrong protocols, setnx-expire and set-px";
  }
  return {};
}

Timeline tell(const Trial& trial) { return Experiment{trial}.play(); }

}  // namespace holdfast::sim
