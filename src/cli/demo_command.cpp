#include "cli/command.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "base/percent.hpp"
#include "cli/command_line.hpp"
#include "cli/demo_ledger.hpp"
#include "cli/demo_scene.hpp"
#include "cli/demo_timing.hpp"
#include "cli/exit_code.hpp"
#include "cli/messages.hpp"
#include "cli/payout_matrix.hpp"
#include "cli/redis_process.hpp"
#include "cli/split_brain.hpp"
#include "cli/table.hpp"
#include "cli/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <system_error>

namespace holdfast::cli {

namespace {

struct Options {
  std::string scene{};
  std::string store{};
  std::string instances = "6";
  std::string orders{};
  std::string database{};
  std::string runs = "1";
  bool no_guard = false;
  bool matrix = false;
  bool json = false;
};

std::int64_t number_from(const char* option, const std::string& text, std::int64_t min,
                         std::int64_t max) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end || value < min || value > max) {
    throw UsageError{std::string{option} + " " + text + ": use a number from " +
                     std::to_string(min) + " to " + std::to_string(max)};
  }
  return value;
}

DemoPlan plan_from(const Options& options, const std::string& folder) {
  DemoPlan plan;
  plan.store = options.store.empty() ? "sqlite://" + percent_encode(folder, "/") + "/locks.db"
                                     : options.store;
  // A store of yours may have a lock called payout.
  plan.lock_name = options.store.empty() ? "payout" : "demo payout " + folder;
  plan.ledger = folder + "/ledger.db";
  plan.orders = number_from("--orders", options.orders.empty() ? "200" : options.orders,
                            demo_orders_min, demo_orders_max);
  plan.instances = static_cast<int>(
      number_from("--instances", options.instances, demo_instances_min, demo_instances_max));
  plan.guarded = !options.no_guard;
  return plan;
}

void tell_line(Duration at, const std::string& what) {
  const double seconds = std::chrono::duration<double>{at}.count();
  std::cout << "  " << std::fixed << std::setprecision(2) << std::setw(5) << seconds << " s  "
            << what << std::endl;
}

bool once_each(const DemoPlan& plan, const DemoResult& result) {
  return result.paid == plan.orders && result.double_payouts == 0;
}

std::string fences_text(const DemoResult& result) {
  std::string text;
  for (const std::int64_t fence : result.fences) {
    text += (text.empty() ? "" : " < ") + std::to_string(fence);
  }
  return text;
}

void print_table(const DemoPlan& plan, const DemoResult& result) {
  std::cout << '\n'
            << table_text({{"  instances", std::to_string(result.instances)},
                           {"  ran", std::to_string(result.ran)},
                           {"  busy", std::to_string(result.busy)},
                           {"  fences", fences_text(result)},
                           {"  stale writes refused", std::to_string(result.stale_refused)},
                           {"  orders paid",
                            std::to_string(result.paid) + " of " + std::to_string(plan.orders)},
                           {"  double payouts", std::to_string(result.double_payouts)}})
            << '\n';
}

void print_verdict(const DemoPlan& plan, const DemoResult& result) {
  const std::string who = "#" + std::to_string(result.frozen_instance);
  if (once_each(plan, result)) {
    std::cout << "Every order was paid exactly once.\n";
    if (result.stale_refused > 0) {
      std::cout
          << who << " was frozen for " << duration_text(result.frozen_for)
          << " with a batch in its hands. Its lease ran out, another took over, and the\n"
             "guard in the ledger's database refused the late write because of its lower "
             "fence.\nholdfast demo payout --no-guard shows what a lock alone lets through.\n";
    }
    return;
  }
  if (plan.guarded) {
    std::cout << "Not every order was paid exactly once. That must not happen: please report it.\n";
    return;
  }
  std::cout << result.double_payouts << " orders were paid twice, although only one process held "
            << "the lock at any time.\n"
            << who << " was frozen for " << duration_text(result.frozen_for)
            << " after its last look at the lock and before its write; no lock can see that.\n"
               "A guard can: it compares the fence in the transaction that writes "
               "(holdfast guard sql sqlite).\n";
}

void print_json(const DemoPlan& plan, const DemoResult& result) {
  const nlohmann::ordered_json object{
      {"instances", result.instances},
      {"ran", result.ran},
      {"busy", result.busy},
      {"fences", result.fences},
      {"stale_refused", result.stale_refused},
      {"paid", result.paid},
      {"double_payouts", result.double_payouts},
      {"orders", plan.orders},
      {"guard", plan.guarded},
      {"frozen_seconds", std::chrono::duration<double>{result.frozen_for}.count()},
      {"seconds", std::chrono::duration<double>{result.took}.count()}};
  std::cout << object.dump() << '\n';
}

int play(const Options& options) {
  const TemporaryFolder folder;
  const DemoPlan plan = plan_from(options, folder.path());
  DemoLedger::create(plan.ledger, plan.orders);
  if (!options.json) {
    std::cout << plan.instances << " processes start the same job at the same moment: pay "
              << plan.orders << " orders.\n\n";
    std::cout.flush();
  }
  const DemoTeller silent = [](Duration, const std::string&) {};
  const DemoResult result = play_payout(plan, options.json ? silent : tell_line);
  if (options.json) {
    print_json(plan, result);
  } else {
    print_table(plan, result);
    print_verdict(plan, result);
  }
  return once_each(plan, result) ? exit_ok : exit_failed;
}

#ifdef HOLDFAST_WITH_POSTGRES
int play_matrix(const Options& options) {
  if (!options.database.starts_with("postgres://") &&
      !options.database.starts_with("postgresql://")) {
    throw UsageError{"--matrix needs --db postgres://user@host/database: a database to try it on"};
  }
  MatrixOptions matrix;
  matrix.database = options.database;
  matrix.store = options.store;
  matrix.orders = number_from("--orders", options.orders.empty() ? "20" : options.orders, 10, 1000);
  matrix.workers = static_cast<int>(
      number_from("--instances", options.instances, demo_instances_min, demo_instances_max));
  matrix.runs = static_cast<int>(number_from("--runs", options.runs, 1, 1000));
  matrix.json = options.json;
  return play_payout_matrix(matrix);
}
#else
int play_matrix(const Options&) {
  throw UsageError{"--matrix needs PostgreSQL, which this build was made without"};
}
#endif

#ifdef HOLDFAST_WITH_REDIS
int play_split_brain_here(bool json) {
  if (!RedisProcess::installed()) {
    throw Error{errc::unsupported,
                "demo split-brain starts servers of its own, and there is no "
                "redis-server (Debian: apt install redis-server)"};
  }
  return play_split_brain(json);
}
#else
int play_split_brain_here(bool) {
  throw UsageError{"demo split-brain needs Redis, which this build was made without"};
}
#endif

}  // namespace

int demo_command(Arguments arguments) {
  Options options;
  CommandLine line{"demo", "Shows the product at work: `holdfast demo payout`."};
  line.positional("SCENE", options.scene, "payout, split-brain (needs redis-server)");
  line.option("--store", options.store, "URL", "Where the lock is kept [a file of its own]");
  line.option("--instances", options.instances, "N", "Processes that race [6]");
  line.option("--orders", options.orders, "M", "Orders to pay [200, with --matrix 20]");
  line.flag("--matrix", options.matrix,
            "Try every way to be safe against every fault, on PostgreSQL");
  line.option("--db", options.database, "URL",
              "For --matrix: postgres://…; it makes and drops schemas of its own there");
  line.option("--runs", options.runs, "N", "For --matrix: runs of each case [1]");
  line.flag("--no-guard", options.no_guard, "Show what a lock alone lets through");
  line.flag("--json", options.json, "One JSON object instead of a story");
  line.footer(
      "payout exits 0 only if every order was paid exactly once; with --matrix, in every case "
      "that\n"
      "a guard in the database is to keep. split-brain exits 0 only if what it tells happened.");
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  if (options.scene == "split-brain") {
    return play_split_brain_here(options.json);
  }
  if (options.scene != "payout") {
    throw UsageError{"there is no scene '" + options.scene + "'; there are payout and split-brain"};
  }
  try {
    return options.matrix ? play_matrix(options) : play(options);
  } catch (const DemoFailure& failure) {
    print_error_line(failure.what());
    return failure.exit_code();
  }
}

}  // namespace holdfast::cli
