#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/observe_leader.hpp"
#include "cli/process_tree.hpp"
#include "cli/run_options.hpp"
#include "cli/run_session.hpp"
#include "cli/secrets.hpp"
#include "cli/start_state.hpp"

#include <utility>

#include <unistd.h>

namespace holdfast::cli {

namespace {

int run_with(const RunOptions& options) {
  // First what was there at the start, then the fork, then threads.
  const std::vector<int> inherited = open_descriptors();
  const std::vector<pid_t> children = descendants_of(getpid());
  const SignalPlan signals = take_signals();
  Supervisor supervisor = Supervisor::launch(
      {options.command, secret_variables(), options.grace, signals.started_mask});
  drop_inherited_descriptors(inherited);
  RunSession session{options, signals, std::move(supervisor), {children.begin(), children.end()}};
  return session.run();
}

}  // namespace

int run_command(Arguments arguments) {
  const auto parsed = parse_run(arguments);
  const int* const code = std::get_if<int>(&parsed);
  return code != nullptr ? *code : run_with(std::get<RunOptions>(parsed));
}

int elect_command(Arguments arguments) {
  const auto parsed = parse_elect(arguments);
  if (const int* const code = std::get_if<int>(&parsed)) {
    return *code;
  }
  const auto& options = std::get<RunOptions>(parsed);
  return options.observe ? observe_leader(options) : run_with(options);
}

}  // namespace holdfast::cli
