// One page of SCAN over the keys of a prefix: what list() goes through.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/function.hpp>

#include "store/redis/keys.hpp"
#include "store/redis/resp.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::redis {

struct ScanPage {
  std::string cursor{};  // empty: the last one
  std::vector<RedisKeys::Found> found{};
};

// Of names that start with `prefix`. nullopt: not the answer to SCAN.
std::optional<ScanPage> parse_scan(const Reply& reply, const RedisKeys& keys,
                                   std::string_view prefix);

// A name that is held and waited for has both a lock and a queue, and SCAN may show them on
// different pages: the lock's page tells of it.
bool belongs_to_page(const RedisKeys::Found& found, const NameView& view);

// A page for people in the making: the names that SCAN found are looked at one by one.
class Listing {
 public:
  Listing(const ScanPage& page, UniqueFunction<void(ListReply)> done)
      : unseen_(page.found.size()), done_(std::move(done)) {
    page_.next_cursor = page.cursor;
  }
  void see(const RedisKeys::Found& found, InspectReply reply);
  void finish_if_all_seen();

 private:
  std::size_t unseen_;
  UniqueFunction<void(ListReply)> done_;
  Page page_{};
  std::optional<Failed> failed_{};
};

// Asks inspect(name, handler) for each name of the page, and makes a page for people of what is
// seen.
template <class Inspect>
void look_at_names(const ScanPage& page, UniqueFunction<void(ListReply)> done, Inspect inspect) {
  const auto listing = std::make_shared<Listing>(page, std::move(done));
  listing->finish_if_all_seen();
  for (const RedisKeys::Found& found : page.found) {
    inspect(found.name, UniqueFunction<void(InspectReply)>{[listing, found](InspectReply reply) {
              listing->see(found, std::move(reply));
            }});
  }
}

}  // namespace holdfast::redis
