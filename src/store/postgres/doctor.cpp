#include "store/postgres/doctor.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"

#include <string>

namespace holdfast::postgres {

namespace {

using Level = Finding::Level;

enum Column : int { version, version_text, fsync, commit, standbys, sync_names, isolation, oldest };

constexpr std::int64_t oldest_tested = 120000;
constexpr std::int64_t long_transaction_s = 600;

}  // namespace

Query doctor_query() {
  return {
      "SELECT current_setting('server_version_num'), current_setting('server_version'), "
      "current_setting('fsync'), current_setting('synchronous_commit'), "
      "(SELECT count(*) FROM pg_stat_replication), "
      "current_setting('synchronous_standby_names'), "
      "current_setting('default_transaction_isolation'), "
      "(SELECT coalesce(max(extract(epoch FROM clock_timestamp() - xact_start)), 0)::int8 "
      "FROM pg_stat_activity WHERE datname = current_database() AND backend_xmin IS NOT NULL "
      "AND pid <> pg_backend_pid())"};
}

Finding of_failure(const Failed& failed) {
  if (failed.code == errc::access_denied) {
    return {Level::failure, failed.detail,
            "docs/stores/postgres.md lists the rights that are needed"};
  }
  if (failed.code == errc::format_too_new) {
    return {Level::failure, failed.detail, "update holdfast"};
  }
  return {Level::failure, failed.detail, "check the URL and that PostgreSQL runs there"};
}

std::vector<Finding> judge_server(const Table& answer, const Settings& settings, Duration took,
                                  bool pooled) {
  std::vector<Finding> findings{{Level::good,
                                 "reached " + settings.server.text() + ", version " +
                                     std::string{answer.text(0, version_text)} +
                                     "; the first answer took " + duration_text(took),
                                 ""}};
  const auto add = [&](Level level, std::string what, std::string advice) {
    findings.push_back({level, std::move(what), std::move(advice)});
  };
  if (answer.integer(0, version) < oldest_tested) {
    add(Level::warning, "this server is older than PostgreSQL 12", "update it");
  }
  if (answer.text(0, fsync) == "off") {
    add(Level::warning, "fsync is off: after a crash the server can forget grants and fences",
        "set fsync = on");
  }
  if (answer.text(0, commit) == "off" || answer.text(0, commit) == "local") {
    add(Level::note,
        "synchronous_commit is " + std::string{answer.text(0, commit)} +
            " here; the locks' own statements commit durably all the same",
        "");
  }
  if (answer.integer(0, standbys) > 0 && answer.text(0, sync_names).empty()) {
    add(Level::warning,
        "the standbys follow asynchronously: one that is promoted may have missed the last grants",
        "set synchronous_standby_names, or put a guard beside the data");
  }
  if (answer.text(0, isolation) != "read committed") {
    add(Level::note,
        "default_transaction_isolation is " + std::string{answer.text(0, isolation)} +
            ": busy names collide and are asked for again",
        "ALTER ROLE ... SET default_transaction_isolation = 'read committed'");
  }
  if (answer.integer(0, oldest) > long_transaction_s) {
    add(Level::warning,
        "a transaction has been open for " + std::to_string(answer.integer(0, oldest)) +
            " s: until it ends, old versions of the locks' rows pile up and slow them",
        "look for it in pg_stat_activity");
  }
  if (pooled && !settings.listen) {
    add(Level::note, "a pooler stands between: waiters are not woken, they look every 500 ms",
        "name a direct way: listen=postgres://...");
  }
  add(Level::note,
      "expiry is judged by this server's wall clock: a step there ends leases early or late", "");
  return findings;
}

}  // namespace holdfast::postgres
