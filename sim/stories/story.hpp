// The stories: failures that people know from hand-drawn timelines, each as an experiment with two
// or three switches, one of which (or several) cures it.
//
//   const Story* story = find_story("gc-pause");
//   Trial trial = trial_of(*story, {{"guard", true}});
//   trial.seed = 7;
//   const Timeline timeline = tell(trial);
#pragma once

#include "sim/stories/trial.hpp"
#include "sim/timeline/timeline.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

struct Switch {
  std::string_view name{};   // "guard"
  std::string_view label{};  // "the database checks the fence"
  bool on = false;           // at first
  bool cures = false;        // turning it over makes the story end well
  void (*apply)(Trial& trial, bool on) = nullptr;
};

struct Story {
  std::string_view name{};          // "gc-pause"
  std::string_view title{};         // "A pause"
  std::string_view before{};        // what to look out for
  std::string_view after_broken{};  // what went wrong, and why
  std::string_view after_sound{};   // why it did not
  Trial trial{};
  std::vector<Switch> switches{};
};

const std::vector<Story>& stories();
const Story* find_story(std::string_view name);  // null: there is none

// Switches that are not in `turned` are as at first. Precondition: all in `turned` exist.
Trial trial_of(const Story& story, const std::map<std::string, bool, std::less<>>& turned);

// The sentence after.
std::string_view moral(const Story& story, const Timeline& timeline);

}  // namespace holdfast::sim
