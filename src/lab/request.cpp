#include "lab/request.hpp"

#include "sim/stories/experiment.hpp"
#include "sim/stories/knob.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace holdfast::lab {

namespace {

constexpr std::uint64_t number_max = (std::uint64_t{1} << 53U) - 1;

void turn_switch(Request& request, const std::string& name, const std::string& value) {
  const auto& switches = request.story->switches;
  if (std::ranges::find(switches, name, &sim::Switch::name) == switches.end()) {
    throw BadRequest{"the story " + std::string{request.story->name} + " has no switch '" +
                     name.substr(0, 40) + "'"};
  }
  const bool on = value == "on" || value == "1";
  if (!on && value != "off" && value != "0") {
    throw BadRequest{name + "=" + value.substr(0, 40) + " is not on or off"};
  }
  request.turned[name] = on;
}

void turn_knob(Request& request, const std::string& name, const std::string& value) {
  if (const std::string wrong = sim::turn(request.trial, name, value); !wrong.empty()) {
    throw BadRequest{wrong};
  }
}

const sim::Story* story_of(const Pairs& pairs) {
  const auto found = std::ranges::find(pairs, "story", &Pairs::value_type::first);
  if (found == pairs.end() || found->second == "free") {
    return nullptr;
  }
  const sim::Story* const story = sim::find_story(found->second);
  if (story == nullptr) {
    throw BadRequest{"there is no story '" + found->second.substr(0, 40) + "'"};
  }
  return story;
}

// Free play starts with a pause that strikes anybody at any time.
sim::Trial free_trial() {
  sim::Trial trial;
  trial.pause = std::chrono::seconds{5};
  trial.pause_at = sim::Moment::any;
  return trial;
}

}  // namespace

std::uint64_t parse_number(const std::string& name, const std::string& value) {
  std::uint64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto parsed = std::from_chars(value.data(), end, number);
  if (parsed.ec != std::errc{} || parsed.ptr != end || number > number_max) {
    throw BadRequest{name + "=" + value.substr(0, 40) + " is not a number from 0 to " +
                     std::to_string(number_max)};
  }
  return number;
}

Request parse_request(const Pairs& pairs) {
  Request request;
  request.story = story_of(pairs);
  request.trial = free_trial();
  std::set<std::string> seen;
  std::uint64_t seed = 1;
  for (const auto& [name, value] : pairs) {
    if (!seen.insert(name).second) {
      throw BadRequest{name.substr(0, 40) + " is given twice"};
    }
    if (name == "seed") {
      seed = parse_number(name, value);
    } else if (name == "story") {
      continue;
    } else if (request.story != nullptr) {
      turn_switch(request, name, value);
    } else {
      turn_knob(request, name, value);
    }
  }
  if (request.story != nullptr) {
    request.trial = sim::trial_of(*request.story, request.turned);
  }
  request.trial.seed = seed;
  if (const std::string wrong = sim::why_invalid(request.trial); !wrong.empty()) {
    throw BadRequest{wrong};
  }
  return request;
}

std::string address_of(const Request& request) {
  std::string address = "story=";
  if (request.story != nullptr) {
    address += request.story->name;
    for (const sim::Switch& each : request.story->switches) {
      const auto found = request.turned.find(each.name);
      if (found != request.turned.end() && found->second != each.on) {
        address.append("&").append(each.name).append(found->second ? "=on" : "=off");
      }
    }
  } else {
    address += "free";
    const sim::Trial usual = free_trial();
    for (const sim::Knob& knob : sim::knobs()) {
      if (knob.get(request.trial) != knob.get(usual)) {
        address.append("&").append(knob.name).append("=").append(text(knob, request.trial));
      }
    }
  }
  return address + "&seed=" + std::to_string(request.trial.seed);
}

}  // namespace holdfast::lab
