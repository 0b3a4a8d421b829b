// diagnose(): one round trip for its latency, then INFO.
#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/server_report.hpp"

namespace holdfast::redis {

namespace {

using Level = Finding::Level;

Finding of_failure(const Failed& failed) {
  if (failed.code == errc::access_denied) {
    return {Level::failure, failed.detail, "docs/stores/redis.md lists the rights that are needed"};
  }
  return {Level::failure, failed.detail, "check the URL and that Redis runs there"};
}

}  // namespace

void RedisStore::diagnose(UniqueFunction<void(std::vector<Finding>)> done) {
  // The first answer includes connecting, so the second is the one that is timed.
  const Instant by = deadline();
  link_.send(Request::of_command("PING"), by,
             [this, by, done = std::move(done)](Outcome first) mutable {
               const auto* failed = std::get_if<Failed>(&first);
               if (failed != nullptr && failed->detail.find("'ping'") == std::string::npos) {
                 done({of_failure(*failed)});
                 return;
               }
               ask_info(by, std::move(done));
             });
}

void RedisStore::ask_info(Instant by, UniqueFunction<void(std::vector<Finding>)> done) {
  const Instant asked = loop_.now();
  link_.send(Request::of_command("INFO"), by,
             [this, asked, done = std::move(done)](Outcome info) mutable {
               std::vector<Finding> findings{{Level::good,
                                              "reached " + settings_->commands.place.server +
                                                  "; one round trip takes " +
                                                  duration_text(loop_.now() - asked),
                                              ""}};
               if (const auto* failed = std::get_if<Failed>(&info)) {
                 if (failed->code == errc::access_denied) {
                   findings.push_back({Level::note,
                                       "this user may not run INFO, so the server was not judged",
                                       "grant +info to let doctor look"});
                 } else {
                   findings.push_back(of_failure(*failed));
                 }
               } else {
                 for (Finding& finding : judge_server(std::get<Reply>(info).text())) {
                   findings.push_back(std::move(finding));
                 }
               }
               for (Finding& finding : locator_->findings()) {
                 findings.push_back(std::move(finding));
               }
               done(std::move(findings));
             });
}

}  // namespace holdfast::redis
