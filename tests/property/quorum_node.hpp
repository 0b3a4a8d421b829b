// One node of a quorum lock for one name: the rules of src/store/redlock/README.md as code, each of
// which a test can leave out.
#pragma once

#include "store/redlock/grant_machine.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace holdfast::redlock {

enum class LeftOut : std::uint8_t {
  nothing,
  lower_than_ours,     // a node notes a fence although it knows a greater one
  second_round,        // the greatest of a quorum plus one is granted without being noted
  membership_mark,     // a node that forgot counts at once
  quorum_of_others,    // the floor comes from any one node
  survey_stops_raise,  // a survey lets those raise who locked before it
  token,               // a join that was long on its way marks a node that forgot again
};

struct Node {
  std::optional<int> owner{};
  std::uint64_t surveys = 0;
  Fence own = Fence::none;
  Fence high = Fence::none;
  bool marked = true;
  int token = 0;  // one for each time that it forgot

  Locked lock(int who) {
    if (!marked) {
      return {Locked::Word::unmarked, {}, {}, 0};
    }
    if (owner && *owner != who) {
      return {Locked::Word::held, {}, {}, 0};
    }
    if (!owner) {
      own = Fence::none;
    }
    owner = who;
    return {Locked::Word::ours, high, own, surveys};
  }
  bool raise(int who, Fence fence, LeftOut left_out, std::uint64_t surveyed = 0) {
    if (!marked || owner != who) {
      return false;
    }
    const bool stopped = surveyed != surveys && left_out != LeftOut::survey_stops_raise;
    if (own != fence && stopped) {
      return false;
    }
    if (own != fence && high >= fence && left_out != LeftOut::lower_than_ours) {
      return false;
    }
    own = fence;
    high = std::max(high, fence);
    return true;
  }
  void undo(int who) {
    if (owner == who) {
      owner.reset();
    }
  }
  std::optional<Fence> survey() {
    if (!marked) {
      return std::nullopt;
    }
    ++surveys;
    return high;
  }
  void join(int meant, Fence floor, LeftOut left_out) {
    if (meant == token || left_out == LeftOut::token) {
      high = std::max(high, floor);
      marked = true;
    }
  }
  void forget(LeftOut left_out) {
    const int next = token + 1;
    *this = Node{};
    token = next;
    marked = left_out == LeftOut::membership_mark;
  }
};

}  // namespace holdfast::redlock
