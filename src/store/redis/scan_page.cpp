#include "store/redis/scan_page.hpp"

#include <holdfast/error.hpp>

namespace holdfast::redis {

std::optional<ScanPage> parse_scan(const Reply& reply, const RedisKeys& keys,
                                   std::string_view prefix) {
  if (reply.size() != 2 || !reply.at(0).is_text() || !reply.at(1).is_array()) {
    return std::nullopt;
  }
  ScanPage page;
  if (reply.at(0).text() != "0") {
    page.cursor = reply.at(0).text();
  }
  const Reply names = reply.at(1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto found = keys.recognise(names.at(i).text());
    if (found && found->name.starts_with(prefix)) {
      page.found.push_back(*std::move(found));
    }
  }
  return page;
}

bool belongs_to_page(const RedisKeys::Found& found, const NameView& view) {
  return found.is_queue ? view.holders.empty() && !view.waiters.empty() : !view.holders.empty();
}

void Listing::see(const RedisKeys::Found& found, InspectReply reply) {
  if (auto* view = std::get_if<NameView>(&reply)) {
    if (belongs_to_page(found, *view)) {
      page_.names.push_back(std::move(*view));
    }
  } else if (std::get<Failed>(reply).code != errc::unsupported) {
    failed_ = std::get<Failed>(std::move(reply));  // not just a key of another type
  }
  --unseen_;
  finish_if_all_seen();
}

void Listing::finish_if_all_seen() {
  if (unseen_ != 0) {
    return;
  }
  if (failed_) {
    done_(*std::move(failed_));
  } else {
    done_(std::move(page_));
  }
}

}  // namespace holdfast::redis
