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
struct RedisStore::Listing {
  Page page;
  std::vector<RedisKeys::Found> found;
  std::size_t left = 0;
  std::optional<Failed> failed;
  UniqueFunction<void(ListReply)> done;

  void finish() {
    if (failed) {
      done(*std::move(failed));
    } else {
      done(std::move(page));
    }
  }
};

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
    auto& page = std::get<ScanPage>(scanned);
    auto listing = std::make_shared<Listing>();
    listing->page.next_cursor = std::move(page.cursor);
    listing->found = std::move(page.found);
    listing->done = std::move(done);
    inspect_found(listing, by);
  };
  link_.send(scan_request(cursor, *settings_), by,
             answer_with<Scanned>(std::move(go_on), [this, prefix](const Reply& reply) {
               return parse_scan(reply, settings_->keys, prefix);
             }));
}

void RedisStore::inspect_found(const std::shared_ptr<Listing>& listing, Instant by) {
  listing->left = listing->found.size();
  if (listing->left == 0) {
    listing->finish();
    return;
  }
  for (const RedisKeys::Found& found : listing->found) {
    UniqueFunction<void(InspectReply)> take = [listing, found](InspectReply reply) {
      if (auto* view = std::get_if<NameView>(&reply)) {
        if (belongs_to_page(found, *view)) {
          listing->page.names.push_back(std::move(*view));
        }
      } else if (std::get<Failed>(reply).code != errc::unsupported) {
        listing->failed = std::get<Failed>(std::move(reply));  // not just a key of another type
      }
      if (--listing->left == 0) {
        listing->finish();
      }
    };
    inspect_by(found.name, by, std::move(take));
  }
}

}  // namespace holdfast::redis
