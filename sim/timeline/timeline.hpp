// A run of the simulator as a picture's data: lanes, what lasted on them, what happened on them,
// and what it came to. Values only; src/lab turns them into SVG, JSON and a page.
//
//   const Timeline timeline = tell(trial);
//   for (const Mark& mark : timeline.marks) { ... }  // in the order of time
//
// Times are true times since the beginning of the world: an onlooker's, which nobody in the world
// can read. What a process believes is drawn where it ends in true time.
#pragma once

#include <holdfast/types.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

enum class LaneKind : std::uint8_t { instance, store, database };

struct Lane {
  LaneKind kind = LaneKind::instance;
  std::string label{};
};

enum class SpanKind : std::uint8_t {
  waits,     // wants the lock and has not got it
  believes,  // trusts its lease, or (wrong protocols) never asks itself
  margin,    // trusts it no more, but the store keeps the record: the safety margin at work
  holds,     // on the store's lane: whose the record is
  works,     // from looking at the lease to sending the write
  paused,    // stopped: a collector, SIGSTOP, a hypervisor
  down,      // crashed
  trouble    // cut off, clogged, the store not there
};

struct Span {
  SpanKind kind = SpanKind::waits;
  std::size_t lane = 0;
  Duration from{};
  Duration to{};
  std::optional<std::size_t> who{};  // the instance that it is about, by its lane
  Fence fence = Fence::none;
  std::string text{};
  bool shared = false;  // believes: a reader, who may be beside others
};

enum class MarkKind : std::uint8_t {
  granted,
  handed_on,
  queued,
  renewed,
  released,
  expired,
  lost,
  gave_up,
  robbed,  // somebody else's record was deleted
  forgot,  // the store lost what it knew
  read,
  wrote,
  doubled,  // a write that paid what was paid already
  torn,     // a reader saw a part of what somebody wrote meanwhile
  refused,
  paused,
  resumed,
  crashed,
  started,
  clock_jumped,
  message_lost,
  objected  // a checker: a promise of holdfast was broken
};

struct Mark {
  MarkKind kind = MarkKind::granted;
  std::size_t lane = 0;
  Duration at{};
  std::optional<std::size_t> who{};
  std::string text{};  // a sentence
};

// A trust window as it was moved: until when its holder trusts, until when the store keeps the
// record. The pages draw the one that is in force at the instant looked at.
struct Window {
  std::size_t lane = 0;
  Duration at{};
  Duration trusted_until{};
  Duration kept_until{};
};

struct Verdict {
  std::size_t orders = 0;
  std::size_t paid = 0;            // orders that were paid at least once
  std::size_t double_payouts = 0;  // payments beyond the first of an order
  std::size_t torn = 0;            // reports of readers that make no sense
  std::size_t refused = 0;         // writes that the database refused
  std::size_t robbed = 0;          // records deleted by somebody else than their owner
  Duration overlap{};              // two or more believed to hold it
  Duration idle{};                 // nobody believed to hold it while there was something to pay
  std::size_t objections = 0;      // of the checkers: 0 unless holdfast itself is at fault
  bool broken = false;             // paid twice, torn, not paid, idle for too long, or an objection
};

struct Timeline {
  std::uint64_t seed = 0;
  Duration length{};
  std::vector<Lane> lanes{};  // the instances, the store if there is one, the database
  std::vector<Span> spans{};  // by lane, then time
  std::vector<Mark> marks{};  // by time
  std::vector<Window> windows{};
  Verdict verdict{};
};

// The words of JSON, SVG classes and the page's legend.
std::string_view word(LaneKind kind);
std::string_view word(SpanKind kind);
std::string_view word(MarkKind kind);

// "12 of 12 orders paid, 1 double payout, 0 stale writes refused, nobody held it for 2.3 s".
std::string text(const Verdict& verdict);

}  // namespace holdfast::sim
