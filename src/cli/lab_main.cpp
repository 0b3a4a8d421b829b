// `holdfast lab`, which `holdfast` starts.
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/holder_text.hpp"
#include "cli/program.hpp"
#include "cli/table.hpp"
#include "lab/locks.hpp"
#include "lab/picture.hpp"
#include "lab/request.hpp"
#include "lab/server.hpp"
#include "lab/timeline_json.hpp"
#include "sim/stories/experiment.hpp"
#include "sim/stories/knob.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace holdfast::cli {

namespace {

struct LabOptions {
  std::string story{};
  std::string seed = "1";
  std::string set{};
  std::string svg{};
  bool json = false;
  bool stories = false;
  std::string port = "0";
  std::string store{};
  bool allow_break = false;
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

int port_of(const LabOptions& options) {
  int port = 0;
  const char* const end = options.port.data() + options.port.size();
  const auto parsed = std::from_chars(options.port.data(), end, port);
  if (parsed.ec != std::errc{} || parsed.ptr != end || port < 0 || port > 65535) {
    throw UsageError{"--port " + options.port + " is not a port from 0 to 65535"};
  }
  return port;
}

// The page, until a signal ends it.
int serve(const LabOptions& options) {
  if (options.allow_break && options.store.empty()) {
    throw UsageError{"--allow-break needs --store URL: whose locks?"};
  }
  const std::string address = lab::address_of(request_of(options));
  const int port = port_of(options);
  sigset_t ends{};
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);  // before there are threads

  std::optional<lab::Locks> locks;
  if (!options.store.empty()) {
    locks.emplace(options.store,
                  lab::LockWords{[](const NameView& view) { return to_json(view); }, held_text});
  }
  const lab::Site site{{.locks = locks ? &*locks : nullptr, .allow_break = options.allow_break}};
  lab::Server server{site, port};
  const bool chosen = !options.story.empty() || !options.set.empty();
  std::cout << "holdfast lab: open " << server.url() << (chosen ? "?" + address : "")
            << " (Ctrl-C ends it)" << std::endl;
  std::thread serving{[&server] {
    server.run();
    kill(getpid(), SIGTERM);  // if it ended by itself
  }};
  int signal = 0;
  sigwait(&ends, &signal);
  server.stop();
  serving.join();
  return exit_ok;
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
  line.option("--port", options.port, "N", "Where the page is served, on this host only [0: any]");
  line.option("--store", options.store, "URL", "Show the locks of this store too");
  line.flag("--allow-break", options.allow_break, "Let the page break locks of the store");
  line.footer(
      "Without --svg, --json and --stories it serves a page and prints where.\n"
      "Example: holdfast lab --story gc-pause --set guard=on --svg pause.svg");
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  if (options.stories) {
    return list_stories();
  }
  if (options.svg.empty() && !options.json) {
    return serve(options);
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
