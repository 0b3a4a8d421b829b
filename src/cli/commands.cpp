#include "cli/command.hpp"

namespace holdfast::cli {

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      {"run", "run a command while holding a lock", run_command},
      {"elect", "run a command while leading, or tell who leads", elect_command},
      {"ls", "list the names that are held or waited for", list_command},
      {"show", "show who holds a name and who waits for it", show_command},
      {"watch", "print changes of a name, or of all, as they happen", watch_command},
      {"break", "take a lock away from its holder", break_command},
      {"doctor", "look at the store and this host, and say what to mend", doctor_command},
      {"stores", "list the stores of this build and what each promises", stores_command},
      {"guard", "make a storage refuse stale fences", guard_command},
#ifdef HOLDFAST_WITH_SQLITE
      {"demo", "see the product at work: real processes, a real pause", demo_command},
#endif
      {"sim", "replay seeds of the simulator", sim_command},
      {"lab", "see why a lock alone is not enough, and your own locks: a page", lab_command},
      {"completion", "print completions for bash, zsh or fish", completion_command},
  };
  return table;
}

}  // namespace holdfast::cli
