// `holdfast lab`, which `holdfast` starts.
#include "base/duration_text.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/program.hpp"
#include "cli/table.hpp"
#include "lab/picture.hpp"
#include "lab/request.hpp"
#include "lab/timeline_json.hpp"
#include "sim/stories/experiment.hpp"
#include "sim/stories/knob.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <vector>

namespace holdfast::cli {

namespace {

struct LabOptions {
  std::string story{};
  std::string seed = "1";
  std::string set{};
  std::string svg{};
  bool json = false;
  bool stories = false;
};

// "guard=on,pause=off"
lab::Pairs pairs_of(const LabOptions& options) {
  lab::Pairs pairs{{"seed", options.seed}};
  pairs.emplace_back("story", options.story.empty() ? "free" : options.story);
  std::size_t start = 0;
  while (start < options.set.size()) {
    const std::size_t end = std::min(options.set.find(',', start), options.set.size());
    const std::string item = options.set.substr(start, end - start);
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos) {
      throw UsageError{"--set wants NAME=VALUE, separated by commas; not '" + item + "'"};
    }
    pairs.emplace_back(item.substr(0, equals), item.substr(equals + 1));
    start = end + 1;
  }
  return pairs;
}

lab::Request request_of(const LabOptions& options) {
  try {
    return lab::parse_request(pairs_of(options));
  } catch (const lab::BadRequest& error) {
    throw UsageError{std::string{error.what()} + "; see holdfast lab --stories"};
  }
}

int list_stories() {
  std::vector<std::vector<std::string>> rows;
  for (const sim::Story& story : sim::stories()) {
    rows.push_back({std::string{story.name}, std::string{story.title}});
    for (const sim::Switch& each : story.switches) {
      rows.push_back({"  " + std::string{each.name} + "=" + (each.on ? "on" : "off"),
                      "  " + std::string{each.label}});
    }
  }
  rows.push_back({"free", "Free play"});
  const sim::Trial usual = lab::parse_request({}).trial;
  for (const sim::Knob& knob : sim::knobs()) {
    rows.push_back(
        {"  " + std::string{knob.name} + "=" + text(knob, usual), "  " + std::string{knob.label}});
  }
  std::cout << table_text(rows);
  return exit_ok;
}

void write_picture(const std::string& path, const lab::Request& request,
                   const sim::Timeline& timeline) {
  lab::PictureOptions options;
  options.title = "Free play";
  if (request.story != nullptr) {
    options.title = request.story->title;
    options.before = request.story->before;
    options.after = sim::moral(*request.story, timeline);
  }
  const std::string svg = lab::draw(timeline, options);
  if (path == "-") {
    std::cout << svg;
    return;
  }
  std::ofstream file{path, std::ios::binary};
  file << svg;
  file.close();
  if (!file) {
    throw UsageError{"cannot write " + path};
  }
}

int lab_main(Arguments arguments) {
  LabOptions options;
  CommandLine line{"lab", "Shows what locks can and cannot do, computed by the real core."};
  line.option("--story", options.story, "NAME", "One of --stories; without it: free play");
  line.option("--seed", options.seed, "N", "Which of many worlds [1]");
  line.option("--set", options.set, "NAME=VALUE,...", "Switches of the story, or knobs");
  line.option("--svg", options.svg, "FILE", "Write the picture to FILE (-: standard output)");
  line.flag("--json", options.json, "Print what happened as one JSON object");
  line.flag("--stories", options.stories, "List the stories, their switches, and the knobs");
  line.footer("Example: holdfast lab --story gc-pause --set guard=on --svg pause.svg");
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  if (options.stories) {
    return list_stories();
  }
  if (options.svg.empty() && !options.json) {
    throw UsageError{"say --svg FILE, --json or --stories; see holdfast lab --help"};
  }
  const lab::Request request = request_of(options);
  const sim::Timeline timeline = sim::tell(request.trial);
  if (!options.svg.empty()) {
    write_picture(options.svg, request, timeline);
  }
  if (options.json) {
    std::cout << lab::to_json(request, timeline).dump() << '\n';
  } else if (options.svg != "-") {
    std::cout << text(timeline.verdict) << '\n';
  }
  return exit_ok;
}

}  // namespace

}  // namespace holdfast::cli

int main(int argc, char** argv) {
  const auto count = static_cast<std::size_t>(std::max(argc, 1));
  return holdfast::cli::run_program({argv + (argc > 0 ? 1 : 0), count - 1},
                                    holdfast::cli::lab_main);
}
