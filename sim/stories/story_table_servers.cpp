// Stories of stores that are several servers: a primary with replicas, a quorum of nodes.
#include "sim/stories/story_table.hpp"

namespace holdfast::sim {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

void guard(Trial& trial, bool on) { trial.protection = on ? Protection::fence : Protection::none; }

// Short enough a lag that the replica knows of the lock: what is wrong is not a lost grant.
Trial with_replicas() {
  Trial trial;
  trial.replicas = 2;
  trial.replica_lag = milliseconds{20};
  trial.orders = 30;
  return trial;
}

Story split_brain() {
  return {
      "split-brain",
      "Two primaries",
      "The primary is cut off together with the holder. On the other side a replica takes over, "
      "as it should, and the old primary knows nothing of it.",
      "Each primary kept its word: one went on renewing the first holder's lease, the other "
      "granted the lock when that lease had ended on its side. It lasts as long as the split.",
      "The second grant has the greater fence, so the database refused the first holder (or "
      "there was no split).",
      with_replicas(),
      {{"split", "the primary and its holder are cut off for 8 s", true, true,
        [](Trial& s, bool on) { s.left_behind = on; }},
       {"guard", "the database checks the fence", false, true, guard}}};
}

Story replica_acks() {
  return {"replica-acks",
          "A grant that no replica has",
          "The same split. But does a renewal count that nobody but the old primary has heard of?",
          "The old primary answered alone, and that was taken for a renewal: two at work.",
          "With replica_acks a renewal that no replica has is no answer: the holder that was left "
          "behind stopped by its own clock, before the other side let the next one in.",
          with_replicas(),
          {{"split", "the primary and its holder are cut off for 8 s", true, true,
            [](Trial& s, bool on) { s.left_behind = on; }},
           {"acks", "replica_acks=1: another server must have it", false, true,
            [](Trial& s, bool on) { s.acks = on ? 1 : 0; }}}};
}

Trial with_quorum() {
  Trial trial;
  trial.nodes = 5;
  trial.dead_nodes = true;
  trial.ttl = seconds{6};
  trial.orders = 20;
  return trial;
}

Story redlock_clock() {
  Trial trial = with_quorum();
  trial.quorum_jump = seconds{10};
  return {"redlock-clock",
          "A quorum of five, and one clock",
          "Five nodes. Two do not answer, which costs nothing: three are a quorum. When they are "
          "back, the clock of one of the three is set forward.",
          "That node ended its lock early and voted for the next instance, with the two that had "
          "not been asked: a quorum again, beside the first one.",
          "The second quorum shares a node with the first, so its fence is greater, and the "
          "database refused the first holder (or all clocks were left alone).",
          trial,
          {{"jump", "the clock of a node is set forward by 10 s", true, true,
            [](Trial& s, bool on) { s.quorum_jump = on ? Duration{seconds{10}} : Duration{0}; }},
           {"dead", "two nodes do not answer at first", true, true,
            [](Trial& s, bool on) { s.dead_nodes = on; }},
           {"guard", "the database checks the fence", false, true, guard}}};
}

Story redlock_forgetful() {
  Trial trial = with_quorum();
  trial.quorum_forget = true;
  trial.ttl = seconds{12};  // or a renewal puts the record back in time
  return {"redlock-forgetful",
          "A quorum of five, and a node that forgot",
          "Two of five nodes do not answer. When they are back, one of the other three restarts "
          "without its memory.",
          "It had forgotten the lock and gave it away again, sooner than a TTL after its restart: "
          "two at work.",
          "A node that forgot counts only after it has learnt from a quorum of the others how high "
          "fences were, so the second fence is greater and the database refused the first holder.",
          trial,
          {{"forget", "a node restarts without memory", true, true,
            [](Trial& s, bool on) { s.quorum_forget = on; }},
           {"guard", "the database checks the fence", false, true, guard},
           {"one-round", "WRONG: each node counts for itself, and has no mark", false, false,
            [](Trial& s, bool on) { s.one_round = on; }}}};
}

}  // namespace

std::vector<Story> stories_of_servers() {
  return {split_brain(), replica_acks(), redlock_clock(), redlock_forgetful()};
}

}  // namespace holdfast::sim
