#include "cli/run_options.hpp"

#include <holdfast/claim.hpp>

#include "base/duration_text.hpp"
#include "base/utf8.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"
#include "core/lease_options.hpp"
#include "core/trust.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace holdfast::cli {

namespace {

constexpr const char* about =
    "Runs COMMAND while holding the lock NAME: renews it, stops the command before the lease can\n"
    "end, and gives the lock back when the command and all that it started are gone.";

constexpr const char* lesson =
    "Examples:\n"
    "  holdfast run payout -- ./payout.sh            run now, or exit 75 if it runs elsewhere\n"
    "  holdfast run deploy --wait 10m -- make deploy wait in line, first come, first served\n"
    "  holdfast run job --store redis://db1:6379 -- ./job     lock across hosts\n"
    "  holdfast run nightly --once 2026-11-30 -- ./nightly    once for this run id, on any host\n"
    "\n"
    "Without --store the lock is a file that counts for this user on this host only.\n"
    "\n"
    "The command gets HOLDFAST_FENCE, a number that only rises: hand it to the storage you write\n"
    "to (holdfast guard sql sqlite), so that a late write after a pause is refused. It also gets\n"
    "HOLDFAST_NAME, HOLDFAST_FLOOR, HOLDFAST_OWNER, HOLDFAST_TTL and HOLDFAST_STORE.\n"
    "\n"
    "Exit codes: the command's own, or 128 + signal; 0 also if --once is done already; 64 wrong "
    "usage; 69 the store could not be\n"
    "reached or refused us; 75 somebody else holds it (or --busy-exit); 76 the lease was lost and\n"
    "the command was stopped; 126 not executable; 127 not found.";

constexpr std::size_t store_size_max = 4096;  // it is handed on in one message

struct Texts {
  std::string ttl = "30s";
  std::string wait = "0";
  std::string grace{};
  std::string min_hold{};
  std::string max_hold{};
  std::string lock_delay{};
  std::string once{};
  std::string remember = "7d";
  std::string busy_exit = "75";
  bool no_renew = false;
};

Duration duration_of(const char* option, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) {
    throw UsageError{std::string{option} + " " + text +
                     " is not a time; write 200ms, 1.5s, 10m, 2h or 7d"};
  }
  return *duration;
}

int exit_code_from(const std::string& text) {
  int code = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, code);
  if (parsed.ec != std::errc{} || parsed.ptr != end || code < 0 || code > 255) {
    throw UsageError{"--busy-exit " + text + " is not an exit code; use 0 to 255"};
  }
  return code;
}

// The margin is for the clock, the grace for the command; what they leave is the time in which a
// renewal may fail and be tried again.
Duration grace_of(const std::string& text, const LeaseOptions& lease) {
  const Duration ttl = lease.ttl;
  const Duration margin = margin_of(lease, ttl);
  const Duration longest_hold = lease.max_hold.value_or(ttl_max);
  if (text.empty()) {
    return std::min({Duration{std::chrono::seconds{5}}, ttl / 3, (longest_hold - margin) / 3});
  }
  const Duration grace = duration_of("--grace", text);
  if (grace + margin >= longest_hold) {
    throw UsageError{"--grace " + text + " leaves no time to work within --max-hold " +
                     duration_text(longest_hold)};
  }
  if (grace > ttl || grace + margin > ttl / 3 * 2) {
    throw UsageError{"--grace " + text + " is too long for --ttl " + duration_text(ttl) +
                     "; use at most " + duration_text(std::max(ttl / 3 * 2 - margin, Duration{0})) +
                     " or a longer --ttl"};
  }
  return grace;
}

std::optional<Duration> optional_duration_of(const char* option, const std::string& text) {
  return text.empty() ? std::nullopt : std::optional{duration_of(option, text)};
}

void apply_once(const Texts& texts, RunOptions& options) {
  options.remember = duration_of("--remember", texts.remember);
  if (texts.once.empty()) {
    return;
  }
  options.once = texts.once;
  if (texts.once.size() > name_size_max || !is_valid_utf8(texts.once) ||
      has_control_character(texts.once)) {
    throw UsageError{"--once: a run id is plain text of at most 255 bytes"};
  }
  if (options.remember <= Duration{0} || options.remember > ttl_max) {
    throw UsageError{"--remember " + texts.remember + " must be above zero and at most 10 years"};
  }
}

void check(const RunOptions& options) {
  if (options.store.size() > store_size_max) {
    throw UsageError{"the store URL is longer than 4096 bytes"};
  }
  if (const std::string why = why_invalid_name(options.name); !why.empty()) {
    throw UsageError{"the name " + why};
  }
  if (const std::string why = why_invalid(options.lease); !why.empty()) {
    throw UsageError{why};
  }
}

void apply(const Texts& texts, RunOptions& options) {
  options.lease.ttl = duration_of("--ttl", texts.ttl);
  options.lease.renew = !texts.no_renew;
  options.lease.min_hold = optional_duration_of("--min-hold", texts.min_hold);
  options.lease.max_hold = optional_duration_of("--max-hold", texts.max_hold);
  options.lease.lock_delay = optional_duration_of("--lock-delay", texts.lock_delay);
  if (texts.wait == "forever") {
    options.wait.reset();
  } else {
    options.wait = duration_of("--wait", texts.wait);
  }
  options.busy_exit = exit_code_from(texts.busy_exit);
  apply_once(texts, options);
  check(options);
  options.grace = grace_of(texts.grace, options.lease);
}

}  // namespace

std::variant<RunOptions, int> parse_run(std::span<const std::string> arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  RunOptions options;
  Texts texts;
  CommandLine line{"run", about};
  line.usage("holdfast run [OPTIONS] NAME -- COMMAND [ARG...]");
  line.positional("NAME", options.name, "What to lock: 1 to 255 bytes of UTF-8");
  line.option("--store", options.store, "URL", "Where the lock is kept");
  line.option("--ttl", texts.ttl, "TIME", "How long the lock outlives a crash of its holder [30s]");
  line.option("--wait", texts.wait, "TIME|forever", "How long to wait while somebody holds it [0]");
  line.option("--grace", texts.grace, "TIME", "From TERM to KILL [5s, at most a third of --ttl]");
  line.flag("--no-renew", texts.no_renew, "Do not renew: the command has one TTL, less the grace");
  line.option("--once", texts.once, "RUN_ID", "Once for this run id: exit 0 if it is done already");
  line.option("--remember", texts.remember, "TIME", "How long --once remembers [7d]");
  line.option("--min-hold", texts.min_hold, "TIME", "Keep others out this long, whatever happens");
  line.option("--max-hold", texts.max_hold, "TIME", "Stop the command after this long");
  line.option("--lock-delay", texts.lock_delay, "TIME", "Keep the name this long after a crash");
  line.option("--busy-exit", texts.busy_exit, "CODE", "Exit code when somebody holds it [75]");
  line.option("--note", options.lease.note, "TEXT", "For people who look at the lock");
  line.flag("--json", options.messages.json, "Messages as one JSON object a line");
  line.flag("-q,--quiet", options.messages.quiet, "No messages");
  line.flag("-v,--verbose", options.messages.verbose, "More messages");
  line.footer(lesson);
  const auto count = static_cast<std::size_t>(dashes - arguments.begin());
  if (const auto code = line.parse(arguments.first(count))) {
    return *code;
  }
  if (dashes == arguments.end() || dashes + 1 == arguments.end()) {
    throw UsageError{"no command: holdfast run NAME -- COMMAND [ARG...]"};
  }
  options.command.assign(dashes + 1, arguments.end());
  apply(texts, options);
  return options;
}

std::string exact_duration_text(Duration duration) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> units{
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}}};
  const std::int64_t count = duration.count();
  const auto* const unit = std::find_if(units.begin(), units.end(),
                                        [&](const auto& each) { return count % each.first == 0; });
  return std::to_string(count / unit->first) + unit->second;
}

}  // namespace holdfast::cli
