#include "store/sqlite/views.hpp"

#include <algorithm>

namespace holdfast::sqlite {

namespace {

constexpr std::int64_t rows_looked_at_max = 1000;
constexpr std::size_t names_in_page_max = 200;

NameView view(NameTable& table, const std::string& name, const LeaseRow& row, Instant now) {
  NameView seen{name, {}, {}, row.fence};
  if (row.is_live(now)) {
    seen.holders.push_back(row.view(now));
  }
  for (WaiterRow& waiter : table.living_waiters(name, now)) {
    seen.waiters.push_back(
        {waiter.owner, Mode::exclusive, std::move(waiter.who), now - waiter.joined_at});
  }
  return seen;
}

}  // namespace

NameView inspect(NameTable& table, const std::string& name, Instant now) {
  return view(table, name, table.find(name).value_or(LeaseRow{}), now);
}

Page list(NameTable& table, const std::string& prefix, const std::string& cursor, Instant now) {
  Page page;
  // The first text after the cursor in byte order.
  const std::string from = std::max(prefix, cursor.empty() ? cursor : cursor + '\0');
  const auto rows = table.names_after(from, rows_looked_at_max);
  for (const NameTable::Named& named : rows) {
    if (!named.name.starts_with(prefix)) {
      return page;
    }
    if (page.names.size() == names_in_page_max) {
      page.next_cursor = page.names.back().name;
      return page;
    }
    NameView seen = view(table, named.name, named.row, now);
    if (!seen.holders.empty() || !seen.waiters.empty()) {
      page.names.push_back(std::move(seen));
    }
  }
  if (static_cast<std::int64_t>(rows.size()) == rows_looked_at_max) {
    page.next_cursor = rows.back().name;
  }
  return page;
}

}  // namespace holdfast::sqlite
