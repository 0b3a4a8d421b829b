#include "sim/stories/story.hpp"

#include <algorithm>

namespace holdfast::sim {

const Story* find_story(std::string_view name) {
  const auto found = std::ranges::find(stories(), name, &Story::name);
  return found == stories().end() ? nullptr : &*found;
}

Trial trial_of(const Story& story, const std::map<std::string, bool, std::less<>>& turned) {
  Trial trial = story.trial;
  for (const Switch& each : story.switches) {
    const auto found = turned.find(each.name);
    each.apply(trial, found == turned.end() ? each.on : found->second);
  }
  return trial;
}

std::string_view moral(const Story& story, const Timeline& timeline) {
  return timeline.verdict.broken ? story.after_broken : story.after_sound;
}

}  // namespace holdfast::sim
