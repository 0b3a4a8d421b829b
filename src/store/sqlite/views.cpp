#include "store/sqlite/views.hpp"

#include <algorithm>

namespace holdfast::sqlite {

namespace {

constexpr std::int64_t names_looked_at_max = 1000;
constexpr std::size_t names_in_page_max = 200;

}  // namespace

NameView inspect(NameTable& table, const std::string& name, Instant now) {
  const NameState state = table.load(name, now);
  NameView seen{name, {}, {}, state.last()};
  for (const LeaseRow& row : state.records()) {
    seen.holders.push_back(row.view(now));
  }
  for (WaiterRow& waiter : table.living_waiters(name, now)) {
    Claim& claim = waiter.claim;
    seen.waiters.push_back({claim.owner, claim.mode, std::move(claim.who), now - waiter.joined_at,
                            claim.permits, claim.limit});
  }
  return seen;
}

Page list(NameTable& table, const std::string& prefix, const std::string& cursor, Instant now) {
  Page page;
  // The first text after the cursor in byte order.
  const std::string from = std::max(prefix, cursor.empty() ? cursor : cursor + '\0');
  const auto names = table.names_after(from, names_looked_at_max);
  for (const std::string& name : names) {
    if (!name.starts_with(prefix)) {
      return page;
    }
    if (page.names.size() == names_in_page_max) {
      page.next_cursor = page.names.back().name;
      return page;
    }
    NameView seen = inspect(table, name, now);
    if (!seen.holders.empty() || !seen.waiters.empty()) {
      page.names.push_back(std::move(seen));
    }
  }
  if (static_cast<std::int64_t>(names.size()) == names_looked_at_max) {
    page.next_cursor = names.back();
  }
  return page;
}

}  // namespace holdfast::sqlite
