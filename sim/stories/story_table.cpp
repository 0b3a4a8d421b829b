// The table of stories, in the order in which the page offers them.
#include "sim/stories/story_table.hpp"

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Trial base(Protocol protocol) {
  Trial trial;
  trial.protocol = protocol;
  return trial;
}

void guard(Trial& trial, bool on) { trial.protection = on ? Protection::fence : Protection::none; }

void holdfast_instead(Trial& trial, bool on) {
  if (on) {
    trial.protocol = Protocol::holdfast;
  }
}

Story setnx_expire() {
  return {
      "setnx-expire",
      "A crash between SETNX and EXPIRE",
      "The lock is taken in two commands, SETNX and EXPIRE. Watch the process that dies between "
      "them.",
      "The record has no TTL, because its maker died before it could set one: nobody gets in, "
      "ever.",
      "A record that is made and given its TTL in one step cannot be left behind for ever.",
      base(Protocol::setnx_expire),
      {{"crash", "the first holder dies between the two commands", true, true,
        [](Trial& trial, bool on) {
          trial.crash = on;
          trial.crash_at = Moment::between_steps;
        }},
       {"one-step", "SET NX PX: one command instead of two", false, true,
        [](Trial& trial, bool on) {
          trial.protocol = on ? Protocol::set_px : Protocol::setnx_expire;
          trial.ttl = seconds{6};
        }}}};
}

Story foreign_del() {
  Trial trial = base(Protocol::set_px);
  trial.orders = 16;
  trial.orders_per_turn = 4;
  return {"foreign-del",
          "Deleting somebody else's lock",
          "Each instance pays four orders, then deletes the lock. The first one is slow to delete "
          "it.",
          "It deleted a lock that was not its own any more, so a third instance got in beside the "
          "second.",
          "A release that looks whose lock it deletes does no harm, however late it comes.",
          trial,
          {{"slow", "the first holder is paused before its DEL", true, true,
            [](Trial& s, bool on) {
              s.pause = on ? Duration{milliseconds{2200}} : Duration{0};
              s.pause_at = Moment::before_release;
            }},
           {"owner-check", "delete only what is one's own", false, true,
            [](Trial& s, bool on) { s.owner_check = on; }}}};
}

Story ttl_too_short() {
  Trial trial = base(Protocol::set_px);
  trial.ttl = seconds{2};
  return {"ttl-too-short",
          "A TTL that is too short",
          "The job takes five seconds, the lock two. Nobody renews it.",
          "The lock ended in the middle of the job, and the next instance did the same work beside "
          "the first.",
          "Either the TTL was longer than the job this time, or a watchdog renewed the lease.",
          trial,
          {{"watchdog", "holdfast: a lease that is renewed while the job runs", false, true,
            holdfast_instead},
           {"long", "a TTL of 30 s", false, true,
            [](Trial& s, bool on) { s.ttl = on ? seconds{30} : seconds{2}; }}}};
}

Story ttl_too_long() {
  Trial trial = base(Protocol::holdfast);
  trial.length = seconds{90};
  return {"ttl-too-long",
          "A TTL that is too long",
          "The holder crashes. Its lock stays for what is left of its TTL.",
          "For most of a minute nobody worked: the store had promised the lock to a dead process.",
          "With a watchdog the TTL can be short, so that a crash costs seconds.",
          trial,
          {{"crash", "the holder crashes", true, true, [](Trial& s, bool on) { s.crash = on; }},
           {"short", "a TTL of 5 s, renewed by the watchdog", false, true,
            [](Trial& s, bool on) { s.ttl = on ? seconds{5} : seconds{60}; }}}};
}

Story gc_pause() {
  return {"gc-pause",
          "A pause, and the write after it",
          "The holder looks at its lease, finds it good, and is stopped before it can write: a "
          "garbage collector, SIGSTOP, a hypervisor.",
          "The lease ended during the pause and another instance paid the same order. No lock can "
          "take back a write that was decided before the pause.",
          "The late write carried an old fence, and the database refused it (or there was no "
          "pause).",
          base(Protocol::holdfast),
          {{"pause", "the holder stands still for 5 s", true, true,
            [](Trial& s, bool on) { s.pause = on ? Duration{seconds{5}} : Duration{0}; }},
           {"guard", "the database checks the fence", false, true, guard}}};
}

Story silence() {
  Trial trial = base(Protocol::set_px);
  trial.orders = 16;
  trial.blind_renewal = true;
  return {
      "silence",
      "A holder that is cut off",
      "The holder cannot reach the store any more. The store will give its lock away when the "
      "TTL is over.",
      "Its renewals went unanswered and it did not mind, so it worked on beside the next holder.",
      "Its own clock told it to stop before the store could let the next one in: the margin.",
      trial,
      {{"cut", "the holder is cut off for 8 s", true, true,
        [](Trial& s, bool on) { s.cut = on ? Duration{seconds{8}} : Duration{0}; }},
       {"trust", "holdfast: trust ends ahead of the TTL", false, true, holdfast_instead}}};
}

Story watchdog() {
  Trial trial = base(Protocol::set_px);
  trial.ttl = seconds{3};
  trial.orders = 14;
  return {
      "watchdog",
      "The watchdog, and what it cannot save",
      "A watchdog renews the lease for as long as its process runs. Then the process is stopped "
      "before a write.",
      "Without a watchdog the lease ends under the job; with one it ends under a paused job. "
      "Either way two instances paid the same order.",
      "The watchdog keeps a lease alive; only the guard stops a writer that slept through its "
      "end.",
      trial,
      {{"watchdog", "the lease is renewed", true, false, holdfast_instead},
       {"pause", "the holder stands still for 5 s", true, true,
        [](Trial& s, bool on) { s.pause = on ? Duration{seconds{5}} : Duration{0}; }},
       {"guard", "the database checks the fence", false, true, [](Trial& s, bool on) {
          guard(s, on);
          s.counter = on && s.protocol != Protocol::holdfast;
        }}}};
}

Story readers() {
  Trial trial = base(Protocol::holdfast);
  trial.readers = 2;
  trial.orders_per_turn = 3;
  return {"readers",
          "Readers and a writer",
          "One instance pays. Two others add up what was paid, which takes them as long as one "
          "order takes.",
          "They read while it was written: the sum and its details are of two different moments.",
          "Under the lock nobody pays while somebody reads. Shared, both readers are inside at "
          "once; exclusive, one after the other.",
          trial,
          {{"shared", "readers take the lock, shared", false, true,
            [](Trial& s, bool on) { s.reading = on ? Reading::shared : Reading::unlocked; }},
           {"exclusive", "readers take it as a writer does", false, true,
            [](Trial& s, bool on) { s.reading = on ? Reading::exclusive : s.reading; }}}};
}

}  // namespace

const std::vector<Story>& stories() {
  static const std::vector<Story> table = [] {
    std::vector<Story> all{setnx_expire(), foreign_del(), ttl_too_short(), ttl_too_long(),
                           gc_pause(),     silence(),     watchdog(),      readers()};
    for (auto& more : {stories_of_storage(), stories_of_servers()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return table;
}

}  // namespace holdfast::sim
