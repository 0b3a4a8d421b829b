// Random commands to a store, as both the property tests and the conformance suite draw them.
#pragma once

#include <holdfast/store.hpp>

#include <rapidcheck.h>

#include <array>
#include <ostream>
#include <string>
#include <vector>

namespace holdfast::property {

struct Command {
  enum class Verb : std::uint8_t {
    acquire,
    queue,
    renew,
    release,
    withdraw,
    break_it,
    amend,   // the value; with the flag also from writer to reader, or back, which is refused
    finish,  // a release that marks the run done
    both,    // acquire_all() of this owner's claims on both names
  };
  Verb verb = Verb::acquire;
  int name = 0;
  int owner = 0;      // each kind of owner wishes for a use and for times of its own
  bool flag = false;  // withdraw: leave a tombstone; break: now
  long pause_ms = 0;  // before it
};

constexpr int verb_kinds = 9;
constexpr int lock_verb_kinds = 6;   // those that every store knows
constexpr int lock_owner_kinds = 6;  // 0 to 5 want a plain lock

// What an owner of this kind uses the name for; its times are up to the test, by number modulo 6.
struct Use {
  bool shared = false;
  std::uint32_t permits = 1, limit = 0;
  bool once = false;  // all of them mean the same run
};
inline Use use_of(int owner) {
  switch (owner) {
    case 6:
    case 7:
    case 8:
      return {.shared = true};
    case 9:
    case 11:
      return {.shared = true, .limit = 3};
    case 10:
      return {.shared = true, .permits = 2, .limit = 3};
    case 12:
      return {.shared = true, .limit = 2};  // disagrees
    case 13:
    case 14:
      return {.once = true};
    case 15:
      return {.shared = true, .limit = 3, .once = true};
    default:
      return {};
  }
}

inline void put_use(Claim& claim, int owner) {
  const Use use = use_of(owner);
  claim.mode = use.shared ? Mode::shared : Mode::exclusive;
  claim.permits = use.permits;
  claim.limit = use.limit;
  claim.run_id = use.once ? "monday" : "";
  claim.value = "value " + std::to_string(owner);
}

// Mostly readers and writers on the first name, mostly permits on the other.
inline int owner_drawn(int name, int number) {
  static constexpr std::array<std::array<int, 18>, 2> owners{{
      {0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 6, 13, 14, 13, 14, 9},
      {9, 9, 10, 10, 11, 11, 15, 15, 9, 10, 11, 15, 15, 12, 0, 5, 6, 13},
  }};
  const auto& row = owners.at(static_cast<std::size_t>(name));
  return row.at(static_cast<std::size_t>(number) % row.size());
}

inline std::ostream& operator<<(std::ostream& out, const Command& command) {
  static constexpr const char* words[] = {"acquire", "queue", "renew",  "release", "withdraw",
                                          "break",   "amend", "finish", "both"};
  return out << "+" << command.pause_ms << "ms " << words[static_cast<int>(command.verb)] << " "
             << command.name << "/" << command.owner << (command.flag ? "!" : "");
}

// The owner of `number` at `name`; never the same at two names.
inline OwnerId owner_id(int name, int number) {
  OwnerId owner;
  owner.bytes[0] = static_cast<std::uint8_t>(0xa0 + name);
  owner.bytes[15] = static_cast<std::uint8_t>(number);
  return owner;
}

// Up to `longest` between two commands; zero: time stands still.
inline rc::Gen<std::vector<Command>> commands(long longest_pause_ms) {
  using rc::gen::inRange;
  const auto pause = longest_pause_ms == 0
                         ? rc::gen::just(0L)
                         : rc::gen::weightedOneOf<long>({{4, rc::gen::just(0L)},
                                                         {3, inRange(1L, longest_pause_ms / 10)},
                                                         {1, inRange(1L, longest_pause_ms)}});
  const auto raw = rc::gen::build<Command>(
      rc::gen::set(&Command::verb,
                   rc::gen::map(inRange(0, verb_kinds),
                                [](int v) { return static_cast<Command::Verb>(v); })),
      rc::gen::set(&Command::name, inRange(0, 2)), rc::gen::set(&Command::owner, inRange(0, 18)),
      rc::gen::set(&Command::flag), rc::gen::set(&Command::pause_ms, pause));
  return rc::gen::container<std::vector<Command>>(rc::gen::map(raw, [](Command command) {
    command.owner = owner_drawn(command.name, command.owner);
    return command;
  }));
}

}  // namespace holdfast::property
