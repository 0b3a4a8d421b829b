// Stories in which the storage has the last word: late writes, failover, clocks, and no lock at
// all.
#include "sim/stories/story_table.hpp"

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void guard(Trial& trial, bool on) { trial.protection = on ? Protection::fence : Protection::none; }

Story late_write() {
  Trial trial;
  trial.orders = 14;
  return {"late-write",
          "A write that is still on its way",
          "The holder sends a write and dies. The write is held up in the network and arrives when "
          "somebody else has the lock.",
          "The write came late, but nothing was wrong with it to see: the order was paid again.",
          "A guard refuses the old fence; a lock delay keeps the next holder out until the write "
          "has landed.",
          trial,
          {{"delay", "a write is held up for 5 s", true, true,
            [](Trial& s, bool on) { s.write_delay = on ? Duration{seconds{5}} : Duration{0}; }},
           {"guard", "the database checks the fence", false, true, guard},
           {"lock-delay", "the store keeps the lock for 4 s more", false, true,
            [](Trial& s, bool on) { s.lock_delay = on ? Duration{seconds{4}} : Duration{0}; }}}};
}

Story failover() {
  Trial trial;
  trial.orders = 14;
  trial.ttl = seconds{6};
  return {"failover",
          "A failover, with the old holder cut off",
          "The store fails over to a replica that has not heard of the lock, and its holder cannot "
          "reach the new primary.",
          "The new store gave the lock away a second time, and both holders paid the same orders.",
          "The store broke its word, but the second grant has a greater fence, and the database "
          "refused the first.",
          trial,
          {{"failover", "the store fails over, and the holder is cut off", true, true,
            [](Trial& s, bool on) { s.failover = s.split = on; }},
           {"guard", "the database checks the fence", false, true, guard},
           {"counter", "WRONG: fences from INCR, which the failover sets back", false, false,
            [](Trial& s, bool on) {
              s.counter = on;
              s.protocol = on ? Protocol::set_px : Protocol::holdfast;
              s.ttl = on ? seconds{20} : seconds{6};
            }}}};
}

Story store_clock() {
  Trial trial;
  trial.ttl = seconds{9};
  return {
      "store-clock",
      "The store's clock is set forward",
      "The store ends leases by its own clock, and that clock is set forward by ten seconds.",
      "The lease ended early for the store. Its holder found out at its next renewal, and "
      "until then two were at work.",
      "The first holder's writes carried the smaller fence, and the database refused them (or "
      "the clock was left alone).",
      trial,
      {{"jump", "the clock is set forward by 10 s", true, true,
        [](Trial& s, bool on) { s.store_clock_jump = on ? Duration{seconds{10}} : Duration{0}; }},
       {"guard", "the database checks the fence", false, true, guard}}};
}

Story no_lock() {
  Trial trial;
  trial.protocol = Protocol::none;
  trial.work = milliseconds{300};
  return {
      "no-lock",
      "No lock at all",
      "Three instances, no lock. Often the database alone can do it.",
      "Everybody saw the same unpaid orders, and paid them.",
      "A unique key or a version refuses the second payment; SKIP LOCKED gives each instance "
      "orders of its own, and nobody works in vain.",
      trial,
      {{"unique", "a unique key on the payment of an order", false, true,
        [](Trial& s, bool on) { s.protection = on ? Protection::unique_key : Protection::none; }},
       {"version", "UPDATE ... WHERE version = the one that was read", false, true,
        [](Trial& s, bool on) { s.protection = on ? Protection::version : s.protection; }},
       {"skip-locked", "SELECT ... FOR UPDATE SKIP LOCKED", false, true,
        [](Trial& s, bool on) { s.protection = on ? Protection::skip_locked : s.protection; }}}};
}

}  // namespace

std::vector<Story> stories_of_storage() {
  return {late_write(), failover(), store_clock(), no_lock()};
}

}  // namespace holdfast::sim
