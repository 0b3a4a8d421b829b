// The verbs for people: inspect, list, break.
#include "store/redis/redis_store.hpp"

#include "store/redis/replies.hpp"
#include "store/redis/requests.hpp"
#include "store/redis/scan_page.hpp"

namespace holdfast::redis {

void RedisStore::inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) {
  inspect_by(name, deadline(), std::move(done));
}

void RedisStore::inspect_by(const std::string& name, Instant by,
                            UniqueFunction<void(InspectReply)> done) {
  link_.send(inspect_request(name, *settings_), by,
             answer_with<InspectReply>(std::move(done), [name](const Reply& reply) {
               return parse_inspected(reply, name);
             }));
}

void RedisStore::break_name(const std::string& name, BreakMode mode,
                            UniqueFunction<void(BreakReply)> done) {
  link_.send(break_request(name, mode, *settings_), deadline(),
             answer_with<BreakReply>(std::move(done), parse_broken));
}

// ---- list --------------------------------------------------------------------------------------

// SCAN finds the keys, then each name is looked at.
void RedisStore::list(const std::string& prefix, const std::string& cursor,
                      UniqueFunction<void(ListReply)> done) {
  using Scanned = std::variant<ScanPage, Failed>;
  const Instant by = deadline();
  UniqueFunction<void(Scanned)> go_on = [this, by,
                                         done = std::move(done)](Scanned scanned) mutable {
    if (auto* failed = std::get_if<Failed>(&scanned)) {
      done(std::move(*failed));
      return;
    }
    look_at_names(std::get<ScanPage>(scanned), std::move(done),
                  [this, by](const std::string& name, UniqueFunction<void(InspectReply)> see) {
                    inspect_by(name, by, std::move(see));
                  });
  };
  link_.send(scan_request(cursor, *settings_), by,
             answer_with<Scanned>(std::move(go_on), [this, prefix](const Reply& reply) {
               return parse_scan(reply, settings_->keys, prefix);
             }));
}

}  // namespace holdfast::redis
