#include "sim/sim.hpp"

#include "sim/universe.hpp"

#include <iomanip>
#include <sstream>

namespace holdfast::sim {

Report run(std::uint64_t seed, std::string_view scenario, const Trace::Sink& trace) {
  Universe universe{draw_options(seed, scenario)};
  if (trace) {
    universe.world.trace().print_to(trace);
  }
  universe.play();

  Report report;
  report.seed = seed;
  report.scenario = scenario;
  report.options = text(universe.options);
  report.hash = universe.world.trace().hash();
  report.simulated = universe.world.now().time_since_epoch();
  report.steps = universe.world.steps();
  for (const Violation& violation : universe.history.violations()) {
    report.violations.push_back(
        {violation.checker, violation.at.time_since_epoch(), violation.what});
  }
  report.counts = universe.history.counts();
  return report;
}

void add(std::map<std::string, std::uint64_t>& sum, const Report& report) {
  for (const auto& [what, times] : report.counts) {
    sum[what] += times;
  }
}

std::string text(const Report& report) {
  const auto seconds = [](Duration time) { return std::chrono::duration<double>(time).count(); };
  std::ostringstream out;
  out << "seed " << report.seed << " (" << report.scenario
      << "): " << (report.passed() ? "passed" : "FAILED") << ", " << std::fixed
      << std::setprecision(3) << seconds(report.simulated) << " s simulated, hash " << std::hex
      << report.hash << std::dec << '\n';
  for (const ReportedViolation& violation : report.violations) {
    out << "  at " << seconds(violation.at) << " s, " << violation.checker << ": " << violation.what
        << '\n';
  }
  if (!report.passed()) {
    out << "  options: " << report.options << '\n'
        << "  again:   holdfast sim --scenario " << report.scenario << " --seed " << report.seed
        << " --trace\n";
  }
  return out.str();
}

}  // namespace holdfast::sim
