// The table of knobs, in the order in which the page shows them.
#include "sim/stories/knob.hpp"

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;
using Kind = Knob::Kind;

std::int64_t ms(Duration time) { return std::chrono::ceil<milliseconds>(time).count(); }

const std::vector<std::string_view> moments{"any", "between-steps", "granted", "before-write",
                                            "before-release"};

template <Duration Trial::*Field>
Knob time(std::string_view name, std::string_view label, std::int64_t low, std::int64_t high) {
  return {name,
          label,
          Kind::time,
          low,
          high,
          {},
          [](const Trial& t) { return ms(t.*Field); },
          [](Trial& t, std::int64_t value) { t.*Field = milliseconds{value}; }};
}

template <auto Field>
Knob count(std::string_view name, std::string_view label, std::int64_t low, std::int64_t high) {
  return {name,
          label,
          Kind::count,
          low,
          high,
          {},
          [](const Trial& t) { return static_cast<std::int64_t>(t.*Field); },
          [](Trial& t, std::int64_t value) {
            t.*Field = static_cast<std::remove_reference_t<decltype(t.*Field)>>(value);
          }};
}

template <bool Trial::*Field>
Knob flag(std::string_view name, std::string_view label) {
  return {name,
          label,
          Kind::flag,
          0,
          1,
          {},
          [](const Trial& t) { return t.*Field ? 1L : 0L; },
          [](Trial& t, std::int64_t value) { t.*Field = value != 0; }};
}

template <auto Field>
Knob choice(std::string_view name, std::string_view label, std::vector<std::string_view> choices) {
  Knob knob = count<Field>(name, label, 0, static_cast<std::int64_t>(choices.size()) - 1);
  knob.kind = Kind::choice;
  knob.choices = std::move(choices);
  return knob;
}

Knob margin() {
  return {"margin",
          "safety margin (0: as usual)",
          Kind::time,
          0,
          300'000,
          {},
          [](const Trial& t) { return ms(t.margin.value_or(Duration{0})); },
          [](Trial& t, std::int64_t value) {
            t.margin = value == 0 ? std::nullopt : std::optional<Duration>{milliseconds{value}};
          }};
}

std::vector<Knob> knobs_of_the_job() {
  return {count<&Trial::instances>("instances", "instances", 1, 20),
          count<&Trial::readers>("readers", "of them readers", 0, 19),
          choice<&Trial::reading>("reading", "readers lock", {"unlocked", "shared", "exclusive"}),
          count<&Trial::orders>("orders", "orders", 1, 500),
          count<&Trial::orders_per_turn>("turn", "orders per turn (0: all)", 0, 500),
          time<&Trial::work>("work", "time for an order", 10, 60'000),
          time<&Trial::length>("length", "at most", 1000, 3'600'000)};
}

std::vector<Knob> knobs_of_the_lock() {
  return {
      choice<&Trial::protocol>("protocol", "lock", {"holdfast", "setnx-expire", "set-px", "none"}),
      time<&Trial::ttl>("ttl", "TTL", 500, 600'000),
      margin(),
      flag<&Trial::watchdog>("watchdog", "watchdog (holdfast)"),
      time<&Trial::lock_delay>("lock-delay", "lock delay (holdfast)", 0, 60'000),
      flag<&Trial::owner_check>("owner-check", "owner check (wrong locks)"),
      flag<&Trial::blind_renewal>("blind-renewal", "blind renewal (wrong locks)"),
      flag<&Trial::counter>("counter", "fences from INCR (wrong locks)"),
      choice<&Trial::protection>("database", "database",
                                 {"plain", "guard", "unique", "version", "skip-locked"})};
}

std::vector<Knob> knobs_of_the_faults() {
  return {time<&Trial::pause>("pause", "pause of an instance", 0, 600'000),
          choice<&Trial::pause_at>("pause-at", "when", moments),
          flag<&Trial::crash>("crash", "crash of an instance"),
          choice<&Trial::crash_at>("crash-at", "when", moments),
          time<&Trial::cut>("cut", "an instance is cut off", 0, 600'000),
          choice<&Trial::cut_at>("cut-at", "when", moments),
          time<&Trial::write_delay>("write-delay", "a write is held up", 0, 600'000),
          flag<&Trial::failover>("failover", "failover of the store"),
          flag<&Trial::split>("split", "and its holder is cut off"),
          count<&Trial::replicas>("replicas", "replicas of the store", 0, 5),
          count<&Trial::acks>("acks", "replicas that must have a grant", 0, 5),
          flag<&Trial::left_behind>("left-behind", "the primary and its holder are cut off"),
          count<&Trial::nodes>("nodes", "a quorum of so many nodes (0: one store)", 0, 9),
          flag<&Trial::dead_nodes>("dead-nodes", "a minority of the nodes is down at first"),
          time<&Trial::quorum_jump>("quorum-jump", "the clock of a node jumps", 0, 600'000),
          flag<&Trial::quorum_forget>("forget", "a node restarts without memory"),
          flag<&Trial::one_round>("one-round", "WRONG: fences in one round, no marks"),
          time<&Trial::replica_lag>("lag", "replica behind by", 1, 60'000),
          time<&Trial::store_clock_jump>("store-jump", "the store's clock jumps", 0, 600'000),
          time<&Trial::node_clock_jump>("node-jump", "an instance's clock jumps", 0, 600'000),
          count<&Trial::loss_per_mille>("loss", "messages lost, per mille", 0, 300),
          count<&Trial::drift_ppm>("drift", "clock drift, ppm", 0, 20'000)};
}

}  // namespace

const std::vector<Knob>& knobs() {
  static const std::vector<Knob> table = [] {
    std::vector<Knob> all = knobs_of_the_job();
    for (const auto& more : {knobs_of_the_lock(), knobs_of_the_faults()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return table;
}

}  // namespace holdfast::sim
