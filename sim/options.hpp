// Everything about a world that is chosen: all of it is drawn from the seed and the scenario.
#pragma once

#include "sim/model_server.hpp"
#include "sim/network.hpp"
#include "sim/quorum_node.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

// What a name is used for, by everybody.
enum class Purpose : std::uint8_t {
  lock,     // one at a time
  shared,   // readers and writers
  permits,  // a semaphore
  runs,     // work that is done once for each run
  seat,     // an election
};
struct NamePlan {
  std::string name{};
  Purpose purpose = Purpose::lock;
  std::uint32_t limit = 0;  // of a semaphore
};

struct Workload {
  std::size_t tasks = 1;  // loops that lock, work and unlock, on each node
  std::vector<NamePlan> names{};
  Duration ttl_min{};
  Duration ttl_max{};
  Duration hold_max{};
  Duration think_max{};
  Duration wait_max{};
  // per mille of the waits
  int for_ever = 0;
  int one_attempt = 0;
  int cancelled = 0;
  int lane_first = 0;  // the first request and the release go over a connection of their own
  int fixed = 0;       // not renewed
  int min_hold = 0;
  int max_hold = 0;
  int lock_delay = 0;
  int abandoned = 0;
  int readers = 0;      // of the waits for a shared name
  int downgraded = 0;   // of the writers
  int other_limit = 0;  // asks for permits under a limit that is not the others'
  int run_fails = 0;
  int together = 0;         // several names at once
  Duration run_every{};     // a new run each time
  Duration remember_max{};  // how long a done run is remembered
};

// Mean times between faults of a kind, over the whole world; zero: none.
struct FaultRates {
  Duration pause{};
  Duration crash{};
  Duration shut_down{};
  Duration cut{};
  Duration clog{};
  Duration freeze{};         // the store
  Duration restart{};        // the store, with its memory
  Duration restart_empty{};  // the store, without
  Duration fail_over{};
  Duration primary_lost{};  // of several servers
  Duration store_clock_jump{};
  // Of one node of a quorum.
  Duration quorum_restart{};
  Duration quorum_forget{};
  Duration quorum_jump{};
  Duration quorum_freeze{};
  Duration quorum_cut{};
  Duration node_clock_change{};
  Duration operator_break{};
};

struct Options {
  std::uint64_t seed = 0;
  std::string scenario{};
  std::size_t nodes = 2;
  Duration faults_for{};       // the first phase
  Duration lateness{};         // of timers
  std::int64_t drift_ppm = 0;  // of each clock at most, either way
  NetworkOptions network{};
  ServerOptions server{};
  QuorumOptions quorum{};
  Workload work{};
  FaultRates faults{};
};

// What scenarios there are, with a line on each.
struct Scenario {
  std::string_view name{};
  std::string_view about{};
};
const std::vector<Scenario>& scenarios();
bool is_scenario(std::string_view name);

// Precondition: is_scenario(scenario).
Options draw_options(std::uint64_t seed, std::string_view scenario);
std::string text(const Options& options);

}  // namespace holdfast::sim
