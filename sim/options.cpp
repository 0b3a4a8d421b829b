#include "sim/options.hpp"

#include <algorithm>
#include <array>
#include <sstream>

namespace holdfast::sim {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Half of what the margin of a TTL of 30 s covers (2.03 s), for two clocks that drift apart.
constexpr std::int64_t drift_limit_ppm = 25'000;
// What clocks really do.
constexpr std::int64_t drift_usual_ppm = 400;

const char* word(Purpose purpose) {
  switch (purpose) {
    case Purpose::lock:
      return "lock";
    case Purpose::shared:
      return "shared";
    case Purpose::permits:
      return "permits";
    case Purpose::runs:
      return "runs";
    case Purpose::seat:
      return "seat";
  }
  return "?";
}

std::vector<NamePlan> draw_names(Random& random, bool primitives) {
  // Every name is a plain lock in half of the worlds of the other scenarios.
  const bool plain = !primitives && random.chance(500);
  constexpr std::array<Purpose, 7> purposes{Purpose::shared,  Purpose::shared, Purpose::permits,
                                            Purpose::permits, Purpose::runs,   Purpose::seat,
                                            Purpose::lock};
  std::vector<NamePlan> names(static_cast<std::size_t>(random.between(1, 3)));
  for (std::size_t i = 0; i < names.size(); ++i) {
    NamePlan& plan = names[i];
    plan.purpose = plain ? Purpose::lock : random.pick<Purpose>(purposes);
    plan.name = word(plan.purpose) + std::to_string(i);
    if (plan.purpose == Purpose::permits) {
      plan.limit = static_cast<std::uint32_t>(random.between(1, 5));
    }
  }
  return names;
}

void draw_primitives(Workload& work, Random& random) {
  work.readers = static_cast<int>(random.between(200, 900));
  work.downgraded = static_cast<int>(random.between(0, 500));
  work.other_limit = random.chance(500) ? static_cast<int>(random.between(1, 150)) : 0;
  work.together = static_cast<int>(random.between(0, 500));
  work.run_fails = static_cast<int>(random.between(0, 400));
  work.run_every = random.between(Duration{milliseconds{500}}, Duration{seconds{10}});
  work.remember_max = random.between(Duration{seconds{1}}, Duration{seconds{60}});
}

Workload draw_workload(Random& random, bool primitives) {
  Workload work;
  work.tasks = static_cast<std::size_t>(random.between(1, 3));
  work.names = draw_names(random, primitives);
  const std::array<Duration, 5> shortest{milliseconds{300}, seconds{1}, seconds{2}, seconds{6},
                                         seconds{10}};
  work.ttl_min = random.pick<Duration>(shortest);
  work.ttl_max = std::min<Duration>(work.ttl_min * random.between(1, 4), seconds{30});
  work.hold_max = random.between(Duration{milliseconds{100}}, work.ttl_max * 3);
  work.think_max = random.between(Duration{milliseconds{1}}, Duration{milliseconds{1500}});
  work.wait_max = random.between(Duration{milliseconds{500}}, Duration{seconds{20}});
  const auto share = [&](int most) { return static_cast<int>(random.between(0, most)); };
  work.for_ever = share(500);
  work.one_attempt = share(300);
  work.cancelled = share(300);
  work.lane_first = share(1000);
  work.fixed = share(200);
  work.min_hold = share(150);
  work.max_hold = share(200);
  work.lock_delay = share(200);
  work.abandoned = share(100);
  draw_primitives(work, random);
  return work;
}

// A swarm: each run has some kinds of fault and not others, often or seldom.
Duration maybe(Random& random, int per_mille, Duration often, Duration seldom) {
  return random.chance(per_mille) ? random.between(often, seldom) : Duration{0};
}

void draw_network_faults(Options& options, Random& random, int per_mille) {
  const auto share = [&](int most) {
    return random.chance(per_mille) ? static_cast<int>(random.between(1, most)) : 0;
  };
  options.network.loss_per_mille = share(60);
  options.network.slow_per_mille = share(30);
  options.network.doubled_per_mille = share(100);
  options.network.reordered_per_mille = share(200);
}

void draw_wake_faults(Options& options, Random& random, int per_mille) {
  const auto share = [&](int most) {
    return random.chance(per_mille) ? static_cast<int>(random.between(1, most)) : 0;
  };
  options.server.wake_lost_per_mille = share(300);
  options.server.wake_late_per_mille = share(900);
  options.server.wake_doubled_per_mille = share(300);
}

void draw_faults(Options& options, Random& random) {
  const std::string& scenario = options.scenario;
  FaultRates& faults = options.faults;
  const bool all = scenario == "everything" || scenario == "primitives";
  const int often = all ? 500 : 1000;
  if (all || scenario == "pauses") {
    faults.pause = maybe(random, often, seconds{1}, seconds{15});
  }
  if (all || scenario == "crashes") {
    faults.crash = maybe(random, often, seconds{2}, seconds{20});
    faults.shut_down = maybe(random, 500, seconds{2}, seconds{20});
    faults.restart = maybe(random, 500, seconds{8}, seconds{40});
    faults.restart_empty = maybe(random, all ? 250 : 500, seconds{10}, seconds{60});
  }
  if (all || scenario == "partitions") {
    faults.cut = maybe(random, often, seconds{1}, seconds{15});
    faults.clog = maybe(random, often, seconds{1}, seconds{15});
    faults.freeze = maybe(random, 500, seconds{3}, seconds{25});
    options.network.slow_per_mille = random.chance(500) ? 30 : 0;
  }
  if (all || scenario == "loss") {
    draw_network_faults(options, random, all ? 300 : 700);
  }
  if (scenario != "calm") {
    draw_wake_faults(options, random, all ? 300 : 600);
  }
  if (all || scenario == "failover") {
    faults.fail_over = maybe(random, all ? 350 : 1000, seconds{5}, seconds{30});
  }
  if (all || scenario == "clocks") {
    faults.store_clock_jump = maybe(random, all ? 250 : 1000, seconds{5}, seconds{40});
    faults.node_clock_change = maybe(random, often, seconds{2}, seconds{20});
    options.drift_ppm = random.chance(500) ? drift_limit_ppm : drift_usual_ppm;
  }
  if (all) {
    faults.operator_break = maybe(random, 200, seconds{5}, seconds{40});
  }
}

// A primary with replicas, which is lost now and then.
void draw_replicas(Options& options, Random& random) {
  const bool all_acknowledge = options.scenario == "acks";
  if (!all_acknowledge && options.scenario != "sentinel") {
    return;
  }
  ServerOptions& server = options.server;
  server.replicas = static_cast<std::size_t>(random.between(1, 2));
  server.acks = all_acknowledge ? server.replicas : static_cast<std::size_t>(random.below(2));
  server.min_replicas = random.chance(250) ? 1 : 0;
  server.replication_lag =
      random.between(Duration{milliseconds{5}},
                     server.acks > 0 ? Duration{milliseconds{50}} : Duration{seconds{1}});
  Workload& work = options.work;
  work.ttl_min = std::max<Duration>(work.ttl_min, seconds{1});
  work.ttl_max = std::max(work.ttl_max, work.ttl_min);
  server.skew = work.ttl_min / 50;
  options.faults.primary_lost = random.between(Duration{seconds{4}}, Duration{seconds{25}});
  options.faults.pause = maybe(random, 300, seconds{5}, seconds{20});
  options.faults.crash = maybe(random, 200, seconds{5}, seconds{20});
  options.faults.cut = maybe(random, 200, seconds{5}, seconds{20});
  draw_network_faults(options, random, 150);
}

// Nodes that each may fail for themselves. Names are plain locks: a quorum keeps no queue.
void draw_quorum(Options& options, Random& random) {
  if (options.scenario != "quorum") {
    return;
  }
  options.quorum.nodes = random.chance(400) ? 3 : 5;
  options.quorum.fences_of_time = random.chance(300);
  Workload& work = options.work;
  for (NamePlan& plan : work.names) {
    plan = {"lock" + plan.name.substr(plan.name.size() - 1), Purpose::lock, 0};
  }
  work.together = 0;
  work.min_hold = work.max_hold = 0;
  options.faults.quorum_restart = maybe(random, 500, seconds{3}, seconds{20});
  options.faults.quorum_forget = maybe(random, 500, seconds{3}, seconds{20});
  options.faults.quorum_jump = maybe(random, 300, seconds{5}, seconds{20});
  options.faults.quorum_freeze = maybe(random, 500, seconds{3}, seconds{20});
  options.faults.quorum_cut = maybe(random, 500, seconds{2}, seconds{15});
  options.faults.pause = maybe(random, 500, seconds{2}, seconds{15});
  options.faults.crash = maybe(random, 300, seconds{5}, seconds{20});
  draw_network_faults(options, random, 300);
}

class Lines {
 public:
  Lines& operator()(std::string_view what, const auto& value) {
    out_ << (first_ ? "" : ", ") << what << ' ' << value;
    first_ = false;
    return *this;
  }
  Lines& operator()(std::string_view what, Duration value) {
    const double in_seconds = std::chrono::duration<double>(value).count();
    return value == Duration{0} ? *this : (*this)(std::string{what} + " s", in_seconds);
  }
  Lines& share(std::string_view what, int per_mille) {
    return per_mille == 0 ? *this : (*this)(std::string{what} + " per mille", per_mille);
  }
  std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_{};
  bool first_ = true;
};

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{
      {"everything", "a different mix of all faults in each run (the default)"},
      {"primitives", "the same, but no world in which every name is a plain lock"},
      {"calm", "no faults: nodes that compete, on clocks that drift a little"},
      {"pauses", "nodes stand still for longer than their leases last"},
      {"partitions", "nodes cut off, one way or both, clogged; a store that freezes and thaws"},
      {"loss", "lost, doubled and reordered messages; lost, late and doubled wake-ups"},
      {"failover", "a replica takes over without the last grants"},
      {"sentinel", "a primary that is frozen, cut off with some clients, or dead; then a replica"},
      {"acks", "the same, and every replica has to have a grant before it counts"},
      {"quorum", "a lock on most of several nodes: they restart, forget, freeze, are cut off"},
      {"clocks", "drift to the limit, clocks that jump, on nodes and in the store"},
      {"crashes", "nodes and the store crash and come back, with and without memory"},
  };
  return all;
}

bool is_scenario(std::string_view name) {
  return std::ranges::find(scenarios(), name, &Scenario::name) != scenarios().end();
}

Options draw_options(std::uint64_t seed, std::string_view scenario) {
  Random random{seed ^ 0x5eed0f0a11ULL};  // not the stream that the world itself uses
  Options options;
  options.seed = seed;
  options.scenario = scenario;
  options.nodes = static_cast<std::size_t>(random.between(2, 5));
  options.faults_for = random.between(Duration{seconds{30}}, Duration{seconds{90}});
  options.lateness = random.chance(300) ? Duration{0} : Duration{random.between(1, 5'000'000)};
  options.drift_ppm = drift_usual_ppm;
  options.network.latency_min = random.between(Duration{microseconds{20}}, milliseconds{2});
  options.network.latency_max =
      options.network.latency_min * random.between(1, random.chance(200) ? 100 : 5);
  options.work = draw_workload(random, scenario == "primitives");
  // A round trip has to fit into the shortest lease several times, or nobody ever gets anywhere.
  options.network.latency_max = std::clamp<Duration>(
      options.network.latency_max, options.network.latency_min, options.work.ttl_min / 20);
  // Less than the life of a tombstone: what is later than that is left to the TTL.
  options.network.slow_max = std::min<Duration>(options.work.ttl_min * 3 / 4, seconds{2});
  options.server.replication_lag = random.between(Duration{milliseconds{1}}, seconds{1});
  draw_faults(options, random);
  draw_replicas(options, random);
  draw_quorum(options, random);
  return options;
}

std::string text(const Options& options) {
  Lines lines;
  lines("scenario", options.scenario)("seed", options.seed)("nodes", options.nodes);
  lines("faults for", options.faults_for)("timers late", options.lateness);
  lines("drift ppm", options.drift_ppm)("latency from", options.network.latency_min);
  lines("latency to", options.network.latency_max);
  lines.share("slow", options.network.slow_per_mille);
  lines.share("lost", options.network.loss_per_mille);
  lines.share("doubled", options.network.doubled_per_mille);
  lines.share("reordered", options.network.reordered_per_mille);
  lines.share("wake-ups lost", options.server.wake_lost_per_mille);
  lines.share("wake-ups late", options.server.wake_late_per_mille);
  lines.share("wake-ups doubled", options.server.wake_doubled_per_mille);
  const Workload& work = options.work;
  lines("tasks", work.tasks)("TTL from", work.ttl_min);
  for (const NamePlan& plan : work.names) {
    lines("name", plan.limit == 0 ? plan.name : plan.name + " of " + std::to_string(plan.limit));
  }
  lines("TTL to", work.ttl_max)("hold to", work.hold_max)("think to", work.think_max);
  lines("wait to", work.wait_max).share("for ever", work.for_ever);
  lines.share("one attempt", work.one_attempt).share("cancelled", work.cancelled);
  lines.share("lane first", work.lane_first).share("fixed", work.fixed);
  lines.share("min_hold", work.min_hold).share("max_hold", work.max_hold);
  lines.share("lock_delay", work.lock_delay).share("abandoned", work.abandoned);
  lines.share("readers", work.readers).share("downgraded", work.downgraded);
  lines.share("other limit", work.other_limit).share("run fails", work.run_fails);
  lines.share("together", work.together);
  lines("run every", work.run_every)("remember to", work.remember_max);
  const FaultRates& faults = options.faults;
  lines("pause every", faults.pause)("crash every", faults.crash)("cut every", faults.cut);
  lines("shutdown every", faults.shut_down);
  lines("clog every", faults.clog)("freeze every", faults.freeze);
  lines("restart every", faults.restart)("empty restart every", faults.restart_empty);
  lines("failover every", faults.fail_over)("replica behind", options.server.replication_lag);
  lines("primary lost every", faults.primary_lost)("servers apart", options.server.skew);
  if (options.server.replicas > 0) {
    lines("replicas", options.server.replicas)("acks", options.server.acks);
    lines("min replicas", options.server.min_replicas);
  }
  if (options.quorum.nodes > 0) {
    lines("quorum of", options.quorum.nodes)("fences of time", options.quorum.fences_of_time);
    lines("node restarts every", faults.quorum_restart);
    lines("node forgets every", faults.quorum_forget)("node jumps every", faults.quorum_jump);
    lines("node freezes every", faults.quorum_freeze)("node cut every", faults.quorum_cut);
  }
  lines("store clock jump every", faults.store_clock_jump);
  lines("node clock change every", faults.node_clock_change);
  lines("break every", faults.operator_break);
  return lines.text();
}

}  // namespace holdfast::sim
