#include "sim/fact.hpp"

#include <array>
#include <cstdio>

namespace holdfast::sim {

namespace {

std::string node(NodeId id) { return "n" + std::to_string(id); }
std::string attempt(AttemptId id) { return "a" + std::to_string(id); }
std::string fence(Fence value) { return std::to_string(to_int(value)); }

std::string seconds(Duration value) {
  std::array<char, 32> digits{};
  const int length = std::snprintf(digits.data(), digits.size(), "%.6f",
                                   std::chrono::duration<double>(value).count());
  return {digits.data(), static_cast<std::size_t>(length)};
}

std::string at(WorldTime when) { return seconds(when.time_since_epoch()); }

const char* word(Verb verb) {
  switch (verb) {
    case Verb::acquire:
      return "acquire";
    case Verb::queue:
      return "queue";
    case Verb::renew:
      return "renew";
    case Verb::amend:
      return "amend";
    case Verb::withdraw:
      return "withdraw";
  }
  return "?";
}

const char* word(Ending how) {
  switch (how) {
    case Ending::released:
      return "released";
    case Ending::lost:
      return "lost";
    case Ending::abandoned:
      return "abandoned";
  }
  return "?";
}

const char* word(RunStep step) {
  switch (step) {
    case RunStep::began:
      return "begins";
    case RunStep::completed:
      return "completes";
    case RunStep::failed:
      return "fails";
  }
  return "?";
}

// Nothing for plain exclusive use.
std::string text(const Use& use) {
  std::string said;
  if (use.limit != 0) {
    said = ", " + std::to_string(use.permits) + " of " + std::to_string(use.limit);
  } else if (use.mode == Mode::shared) {
    said = ", shared";
  }
  return use.run.empty() ? said : said + ", run " + use.run;
}

std::string below(Fence floor, Fence value) {
  return floor == value || floor == Fence::none ? std::string{} : " floor " + fence(floor);
}

std::string text(const StoreStands::Place& place) {
  return short_text(place.owner) + text(place.use) + (place.released ? ", released" : "");
}

struct Words {
  std::string operator()(const Asked& f) const {
    return node(f.node) + " asks " + word(f.verb) + ' ' + f.name + ' ' + short_text(f.owner) + ' ' +
           attempt(f.attempt) + (f.value.empty() ? std::string{} : " value " + f.value);
  }
  std::string operator()(const Wanted& f) const {
    return node(f.node) + " wants " + f.name + ' ' + attempt(f.attempt) +
           (f.due == WorldTime::max() ? std::string{" for ever"} : " until " + at(f.due)) +
           text(f.use) + (f.names > 1 ? ", and others: " + std::to_string(f.names) : std::string{});
  }
  std::string operator()(const Due& f) const { return attempt(f.attempt) + " due at " + at(f.due); }
  std::string operator()(const Refused& f) const {
    return node(f.node) + " refused " + f.name + ' ' + attempt(f.attempt) + ": " + f.code.message();
  }
  std::string operator()(const Trusts& f) const {
    return node(f.node) + " trusts " + f.name + ' ' + short_text(f.owner) + " fence " +
           fence(f.fence) + below(f.floor, f.fence) + " until " + at(f.until) + text(f.use);
  }
  std::string operator()(const Ended& f) const {
    return node(f.node) + ' ' + word(f.how) + ' ' + f.name + ' ' + short_text(f.owner) +
           (f.code ? ": " + f.code.message() : std::string{});
  }
  std::string operator()(const Ran& f) const {
    return node(f.node) + ' ' + word(f.step) + ' ' + f.name + " run " + f.run + ' ' +
           short_text(f.owner);
  }
  std::string operator()(const Proclaimed& f) const {
    return node(f.node) + " has proclaimed " + f.value + " in " + f.name + ' ' +
           short_text(f.owner);
  }
  std::string operator()(const Doubts& f) const { return node(f.node) + " doubts what it holds"; }
  std::string operator()(const Crashed& f) const { return node(f.node) + " crashed"; }
  std::string operator()(const Paused& f) const {
    return node(f.node) + (f.on ? " paused" : " resumed");
  }
  std::string operator()(const StoreGranted& f) const {
    return std::string{"store "} + (f.handed_on ? "hands " : "grants ") + f.name + " to " +
           short_text(f.owner) + " fence " + fence(f.fence) + below(f.floor, f.fence) + text(f.use);
  }
  std::string operator()(const StoreHolds& f) const {
    return "store holds " + f.name + " for " + short_text(f.owner) + " until " + at(f.until);
  }
  std::string operator()(const StoreRenewed& f) const {
    return "store renews " + f.name + " for " + short_text(f.owner);
  }
  std::string operator()(const StoreQueued& f) const {
    return "store queues " + short_text(f.owner) + " for " + f.name + text(f.use);
  }
  std::string operator()(const StoreDismissed& f) const {
    return "store dismisses " + short_text(f.owner) + " from " + f.name;
  }
  std::string operator()(const StoreAmended& f) const {
    return "store amends " + f.name + " of " + short_text(f.owner) +
           (f.mode == Mode::shared ? ", shared" : "");
  }
  std::string operator()(const StoreWithdrew& f) const {
    return "store withdraws " + short_text(f.owner) + " from " + f.name;
  }
  std::string operator()(const StoreMarked& f) const {
    return "store marks run " + f.run + " of " + f.name + " done by " + short_text(f.owner);
  }
  std::string operator()(const StoreStands& f) const {
    std::string line = "store has in " + f.name + ':';
    for (const StoreStands::Place& place : f.holders) {
      line += ' ' + text(place) + ';';
    }
    return line + (f.next ? " next " + text(*f.next) : std::string{});
  }
  std::string operator()(const StoreForgot& f) const {
    std::string line = "store forgot (" + f.why + "):";
    for (const OwnerId& owner : f.owners) {
      line += ' ' + short_text(owner);
    }
    return line + (f.fences ? ", and its fences" : "");
  }
  std::string operator()(const StoreDeposed& f) const {
    std::string line = "a deposed primary has its way with";
    for (const OwnerId& owner : f.owners) {
      line += ' ' + short_text(owner);
    }
    return line;
  }
  std::string operator()(const StoreHas& f) const {
    return "store has " + short_text(f.owner) + (f.waits ? " waiting for " : " holding ") + f.name +
           (f.value.empty() ? std::string{} : " value " + f.value);
  }
  std::string operator()(const Wrote& f) const {
    return node(f.node) + (f.landed ? " wrote " : " could not write ") + f.resource + " fence " +
           fence(f.fence) + below(f.floor, f.fence) + (f.guarded ? " guarded" : " unguarded");
  }
  std::string operator()(const Trouble& f) const {
    return (f.on ? "trouble for " : "end of trouble for ") + node(f.node) + ": " + f.what;
  }
  std::string operator()(const Healed& /*f*/) const { return "healed"; }
  std::string operator()(const Stuck& /*f*/) const { return "stuck"; }
  std::string operator()(const Finished& /*f*/) const { return "finished"; }
};

}  // namespace

Use use_of(const Claim& claim) { return {claim.mode, claim.permits, claim.limit, claim.run_id}; }

bool may_be_beside(const Use& one, const Use& other) {
  return one.limit == other.limit && one.mode == Mode::shared && other.mode == Mode::shared;
}

std::string text(const Fact& fact) { return std::visit(Words{}, fact); }

std::string short_text(const OwnerId& owner) { return owner.text().substr(0, 6); }

}  // namespace holdfast::sim
