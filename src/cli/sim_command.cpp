#include "cli/command.hpp"

#include "base/duration_text.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "cli/table.hpp"
#include "sim/sim.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

namespace holdfast::cli {

namespace {

struct Options {
  std::string scenario{sim::default_scenario};
  std::string seed{};
  std::string seeds = "200";
  std::string from = "1";
  bool trace = false;
  bool list = false;
  bool json = false;
};

struct Sum {
  std::uint64_t seeds = 0;
  std::uint64_t failed = 0;
  Duration simulated{};
  std::map<std::string, std::uint64_t> counts{};
};

std::uint64_t number_from(const char* option, const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end) {
    throw UsageError{std::string{option} + " " + text + " is not a number"};
  }
  return value;
}

std::string hash_text(std::uint64_t hash) {
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << hash;
  return text.str();
}

void print_json(const sim::Report& report) {
  nlohmann::ordered_json object{{"seed", report.seed},       {"scenario", report.scenario},
                                {"passed", report.passed()}, {"hash", hash_text(report.hash)},
                                {"steps", report.steps},     {"options", report.options},
                                {"counts", report.counts}};
  object["violations"] = nlohmann::ordered_json::array();
  for (const sim::ReportedViolation& violation : report.violations) {
    object["violations"].push_back({{"checker", violation.checker},
                                    {"at", std::chrono::duration<double>{violation.at}.count()},
                                    {"what", violation.what}});
  }
  std::cout << object.dump() << '\n';
}

void print_sum(const Sum& sum, const std::string& scenario) {
  std::cout << sum.seeds - sum.failed << " seeds of '" << scenario << "' passed, " << sum.failed
            << " failed; " << duration_text(sum.simulated) << " of virtual time\n";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [what, count] : sum.counts) {
    rows.push_back({"  " + what, std::to_string(count)});
  }
  std::cout << table_text(rows);
}

int list_scenarios(bool json) {
  std::vector<std::vector<std::string>> rows;
  for (const sim::Scenario& scenario : sim::scenarios()) {
    if (json) {
      const nlohmann::ordered_json object{{"scenario", scenario.name}, {"about", scenario.about}};
      std::cout << object.dump() << '\n';
    }
    rows.push_back({std::string{scenario.name}, std::string{scenario.about}});
  }
  if (!json) {
    std::cout << table_text(rows);
  }
  return exit_ok;
}

sim::Report play(std::uint64_t seed, const Options& options) {
  if (!options.trace) {
    return sim::run(seed, options.scenario);
  }
  return sim::run(seed, options.scenario,
                  [](const std::string& line) { std::cout << line << '\n'; });
}

int play_all(const Options& options) {
  const bool one = !options.seed.empty();
  const std::uint64_t first =
      one ? number_from("--seed", options.seed) : number_from("--from", options.from);
  const std::uint64_t count = one ? 1 : number_from("--seeds", options.seeds);
  Sum sum;
  for (; sum.seeds < count; ++sum.seeds) {
    const sim::Report report = play(first + sum.seeds, options);
    sum.failed += report.passed() ? 0 : 1;
    sum.simulated += report.simulated;
    sim::add(sum.counts, report);
    if (options.json) {
      print_json(report);
    } else if (one || !report.passed()) {
      std::cout << sim::text(report) << std::endl;
    }
  }
  if (!options.json && !one) {
    print_sum(sum, options.scenario);
  }
  return sum.failed == 0 ? exit_ok : exit_failed;
}

}  // namespace

int sim_command(Arguments arguments) {
  Options options;
  CommandLine line{"sim", "Runs the core against model stores in virtual time, under faults."};
  line.option("--seeds", options.seeds, "N", "Run N seeds [200]");
  line.option("--from", options.from, "N", "The first of them [1]");
  line.option("--seed", options.seed, "N", "Replay this one");
  line.option("--scenario", options.scenario, "NAME", "What may happen [everything]");
  line.flag("--scenarios", options.list, "List the scenarios");
  line.flag("--trace", options.trace, "Print every event");
  line.flag("--json", options.json, "One JSON object a seed");
  line.footer("One seed gives one world, event by event. Exits 1 if a checker found a violation.");
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  if (options.list) {
    return list_scenarios(options.json);
  }
  if (!sim::is_scenario(options.scenario)) {
    throw UsageError{"there is no scenario '" + options.scenario +
                     "'; see holdfast sim --scenarios"};
  }
  return play_all(options);
}

}  // namespace holdfast::cli
