// Random commands to a store, as both the property tests and the conformance suite draw them.
#pragma once

#include <holdfast/store.hpp>

#include <rapidcheck.h>

#include <ostream>
#include <string>
#include <vector>

namespace holdfast::property {

struct Command {
  enum class Verb : std::uint8_t { acquire, queue, renew, release, withdraw, break_it };
  Verb verb = Verb::acquire;
  int name = 0;
  int owner = 0;      // each kind of owner wishes for times of its own
  bool flag = false;  // withdraw: leave a tombstone; break: now
  long pause_ms = 0;  // before it
};

constexpr int owner_kinds = 6;

inline std::ostream& operator<<(std::ostream& out, const Command& command) {
  static constexpr const char* words[] = {"acquire", "queue",    "renew",
                                          "release", "withdraw", "break"};
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
  return rc::gen::container<std::vector<Command>>(rc::gen::build<Command>(
      rc::gen::set(
          &Command::verb,
          rc::gen::map(inRange(0, 6), [](int v) { return static_cast<Command::Verb>(v); })),
      rc::gen::set(&Command::name, inRange(0, 2)),
      rc::gen::set(&Command::owner, inRange(0, owner_kinds)), rc::gen::set(&Command::flag),
      rc::gen::set(&Command::pause_ms, pause)));
}

}  // namespace holdfast::property
