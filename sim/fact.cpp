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

struct Words {
  std::string operator()(const Asked& f) const {
    return node(f.node) + " asks " + word(f.verb) + ' ' + f.name + ' ' + short_text(f.owner) + ' ' +
           attempt(f.attempt);
  }
  std::string operator()(const Wanted& f) const {
    return node(f.node) + " wants " + f.name + ' ' + attempt(f.attempt) +
           (f.due == WorldTime::max() ? std::string{" for ever"} : " until " + at(f.due));
  }
  std::string operator()(const Due& f) const { return attempt(f.attempt) + " due at " + at(f.due); }
  std::string operator()(const Refused& f) const {
    return node(f.node) + " refused " + f.name + ' ' + attempt(f.attempt) + ": " + f.code.message();
  }
  std::string operator()(const Trusts& f) const {
    return node(f.node) + " trusts " + f.name + ' ' + short_text(f.owner) + " fence " +
           fence(f.fence) + " until " + at(f.until);
  }
  std::string operator()(const Ended& f) const {
    return node(f.node) + ' ' + word(f.how) + ' ' + f.name + ' ' + short_text(f.owner) +
           (f.code ? ": " + f.code.message() : std::string{});
  }
  std::string operator()(const Crashed& f) const { return node(f.node) + " crashed"; }
  std::string operator()(const Paused& f) const {
    return node(f.node) + (f.on ? " paused" : " resumed");
  }
  std::string operator()(const StoreGranted& f) const {
    return std::string{"store "} + (f.handed_on ? "hands " : "grants ") + f.name + " to " +
           short_text(f.owner) + " fence " + fence(f.fence);
  }
  std::string operator()(const StoreHolds& f) const {
    return "store holds " + f.name + " for " + short_text(f.owner) + " until " + at(f.until);
  }
  std::string operator()(const StoreRenewed& f) const {
    return "store renews " + f.name + " for " + short_text(f.owner);
  }
  std::string operator()(const StoreQueued& f) const {
    return "store queues " + short_text(f.owner) + " for " + f.name;
  }
  std::string operator()(const StoreWithdrew& f) const {
    return "store withdraws " + short_text(f.owner) + " from " + f.name;
  }
  std::string operator()(const StoreForgot& f) const {
    std::string line = "store forgot (" + f.why + "):";
    for (const OwnerId& owner : f.owners) {
      line += ' ' + short_text(owner);
    }
    return line + (f.fences ? ", and its fences" : "");
  }
  std::string operator()(const StoreHas& f) const {
    return "store has " + short_text(f.owner) + (f.waits ? " waiting for " : " holding ") + f.name;
  }
  std::string operator()(const Wrote& f) const {
    return node(f.node) + (f.landed ? " wrote " : " could not write ") + f.resource + " fence " +
           fence(f.fence) + (f.guarded ? " guarded" : " unguarded");
  }
  std::string operator()(const Trouble& f) const {
    return (f.on ? "trouble for " : "end of trouble for ") + node(f.node) + ": " + f.what;
  }
  std::string operator()(const Healed& /*f*/) const { return "healed"; }
  std::string operator()(const Stuck& /*f*/) const { return "stuck"; }
  std::string operator()(const Finished& /*f*/) const { return "finished"; }
};

}  // namespace

std::string text(const Fact& fact) { return std::visit(Words{}, fact); }

std::string short_text(const OwnerId& owner) { return owner.text().substr(0, 6); }

}  // namespace holdfast::sim
