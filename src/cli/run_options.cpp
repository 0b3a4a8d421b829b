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

constexpr const char* elect_about =
    "Campaigns for NAME and runs COMMAND while leading: one leader at a time, and everybody can "
    "see\n"
    "who. Everything else is as with holdfast run, the exit codes among it.";

constexpr const char* elect_lesson =
    "Examples:\n"
    "  holdfast elect scheduler --value 10.0.0.7:8080 -- ./scheduler\n"
    "  holdfast elect scheduler --observe --json\n"
    "\n"
    "The command gets the term of its leadership in HOLDFAST_FENCE. What --observe tells is up to "
    "half\n"
    "a second old, and a leader that was stopped or cut off is told until its lease ends.";

constexpr std::size_t store_size_max = 4096;  // it is handed on in one message

struct Texts {
  std::string ttl = "30s";
  std::string wait = "0";
  std::string grace{};
  std::string min_hold{};
  std::string max_hold{};
  std::string lock_delay{};
  std::string limit{};
  std::string permits = "1";
  std::string value{};
  std::optional<std::string> once{};
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

std::uint32_t count_from(const char* option, const std::string& text, std::uint32_t most) {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, count);
  if (parsed.ec != std::errc{} || parsed.ptr != end || count == 0 || count > most) {
    throw UsageError{std::string{option} + " " + text + " is not a number from 1 to " +
                     std::to_string(most)};
  }
  return count;
}

void apply_way(const Texts& texts, RunOptions& options) {
  if (!texts.limit.empty()) {
    options.limit = count_from("--limit", texts.limit, limit_max);
  }
  options.permits = count_from("--permits", texts.permits, limit_max);
  if (options.permits != 1 && options.permits > options.limit) {
    throw UsageError{"--permits " + texts.permits + " needs a --limit of at least as many"};
  }
  if (options.shared + (options.limit != 0) + texts.once.has_value() > 1) {
    throw UsageError{"--shared, --limit and --once are three ways to hold a name; use one"};
  }
}

std::optional<Duration> optional_duration_of(const char* option, const std::string& text) {
  return text.empty() ? std::nullopt : std::optional{duration_of(option, text)};
}

void apply_once(const Texts& texts, RunOptions& options) {
  options.remember = duration_of("--remember", texts.remember);
  if (!texts.once) {
    return;
  }
  options.once = texts.once;
  if (options.once->empty()) {
    throw UsageError{"--once: the run id is empty; name the run, e.g. by its date"};
  }
  if (options.once->size() > name_size_max || !is_valid_utf8(*options.once) ||
      has_control_character(*options.once)) {
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
  apply_way(texts, options);
  apply_once(texts, options);
  check(options);
  options.grace = grace_of(texts.grace, options.lease);
}

}  // namespace

namespace {

using Arguments = std::span<const std::string>;

// What both commands have.
void add_common(CommandLine& line, RunOptions& options, Texts& texts, const char* wait_help) {
  line.positional("NAME", options.name, "What to lock: 1 to 255 bytes of UTF-8");
  line.option("--store", options.store, "URL", "Where the lock is kept");
  line.option("--ttl", texts.ttl, "TIME", "How long the lock outlives a crash of its holder [30s]");
  line.option("--wait", texts.wait, "TIME|forever", wait_help);
  line.option("--grace", texts.grace, "TIME", "From TERM to KILL [5s, at most a third of --ttl]");
}

void add_last(CommandLine& line, RunOptions& options, Texts& texts) {
  line.option("--busy-exit", texts.busy_exit, "CODE", "Exit code when somebody holds it [75]");
  line.option("--note", options.lease.note, "TEXT", "For people who look at the lock");
  line.flag("--json", options.messages.json, "Messages as one JSON object a line");
  line.flag("-q,--quiet", options.messages.quiet, "No messages");
  line.flag("-v,--verbose", options.messages.verbose, "More messages");
}

// What is before "--" is parsed; what is behind it is the command. An exit code if it is over.
std::optional<int> parse_all(CommandLine& line, Arguments arguments, RunOptions& options) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (const auto code =
          line.parse(arguments.first(static_cast<std::size_t>(dashes - arguments.begin())))) {
    return code;
  }
  if (dashes != arguments.end()) {
    options.command.assign(dashes + 1, arguments.end());
  }
  return std::nullopt;
}

}  // namespace

std::variant<RunOptions, int> parse_run(Arguments arguments) {
  RunOptions options;
  Texts texts;
  CommandLine line{"run", about};
  line.usage("holdfast run [OPTIONS] NAME -- COMMAND [ARG...]");
  add_common(line, options, texts, "How long to wait while somebody holds it [0]");
  line.flag("--no-renew", texts.no_renew, "Do not renew: the command has one TTL, less the grace");
  line.flag("--shared", options.shared, "As one of many readers: only writers are kept out");
  line.option("--limit", texts.limit, "N", "As one of at most N at once; all must agree on N");
  line.option("--permits", texts.permits, "N", "How many of --limit to take [1]");
  line.option("--once", texts.once, "RUN_ID", "Once for this run id: exit 0 if it is done already");
  line.option("--remember", texts.remember, "TIME", "How long --once remembers [7d]");
  line.option("--min-hold", texts.min_hold, "TIME", "Keep others out this long, whatever happens");
  line.option("--max-hold", texts.max_hold, "TIME", "Stop the command after this long");
  line.option("--lock-delay", texts.lock_delay, "TIME", "Keep the name this long after a crash");
  add_last(line, options, texts);
  line.footer(lesson);
  if (const auto code = parse_all(line, arguments, options)) {
    return *code;
  }
  if (options.command.empty()) {
    throw UsageError{"no command: holdfast run NAME -- COMMAND [ARG...]"};
  }
  apply(texts, options);
  return options;
}

std::variant<RunOptions, int> parse_elect(Arguments arguments) {
  RunOptions options;
  Texts texts;
  texts.wait = "forever";
  CommandLine line{"elect", elect_about};
  line.usage(
      "holdfast elect [OPTIONS] NAME --value V -- COMMAND [ARG...]\n"
      "       holdfast elect NAME --observe [--json]");
  add_common(line, options, texts, "How long to wait while somebody leads [forever]");
  line.option("--value", texts.value, "V", "What the leader says of itself, e.g. its address");
  line.flag("--observe", options.observe, "Print who leads, now and at each change");
  add_last(line, options, texts);
  line.footer(elect_lesson);
  if (const auto code = parse_all(line, arguments, options)) {
    return *code;
  }
  if (options.observe == !options.command.empty()) {
    throw UsageError{
        "holdfast elect needs either --observe or -- COMMAND; see holdfast elect --help"};
  }
  if (!options.observe && texts.value.empty()) {
    throw UsageError{"no --value: what shall the others see of the leader?"};
  }
  if (texts.value.size() > value_size_max) {
    throw UsageError{"--value is longer than 1024 bytes"};
  }
  options.value = texts.value;
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
