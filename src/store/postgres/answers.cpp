// What the rows of holdfast.lock_answer mean.
#include <holdfast/error.hpp>

#include "base/hex.hpp"
#include "store/postgres/queries.hpp"

#include <algorithm>

namespace holdfast::postgres {

namespace {

// The columns of lock_answer.
enum Column : int {
  what,
  name,
  owner,
  state,
  mode,
  permits,
  permit_limit,
  fence,
  floor,
  age,
  time_left,
  value,
  host,
  pid,
  note,
  columns
};

Duration duration(const Table& table, int row, int column) {
  return std::chrono::microseconds{table.integer(row, column)};
}

std::uint32_t count(const Table& table, int row, int column) {
  return static_cast<std::uint32_t>(table.integer(row, column));
}

// As "\\x0aff".
std::string bytes_of(std::string_view hex) {
  hex.remove_prefix(std::min<std::size_t>(hex.size(), 2));
  std::string bytes(hex.size() / 2, '\0');
  const bool valid = from_hex(hex, {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return valid ? bytes : std::string{};
}

Who who(const Table& table, int row) {
  return {std::string{table.text(row, host)}, table.integer(row, pid),
          std::string{table.text(row, note)}};
}

Mode mode_at(const Table& table, int row) {
  return table.integer(row, mode) == 0 ? Mode::exclusive : Mode::shared;
}

Holder holder(const Table& table, int row) {
  Holder seen;
  seen.owner = OwnerId::parse(table.text(row, owner)).value_or(OwnerId{});
  seen.mode = mode_at(table, row);
  seen.fence = Fence{table.integer(row, fence)};
  seen.who = who(table, row);
  seen.held_for = duration(table, row, age);
  seen.ttl_left = duration(table, row, time_left);
  seen.broken = table.integer(row, state) == 2;
  seen.released = table.integer(row, state) == 3;
  seen.permits = count(table, row, permits);
  seen.limit = count(table, row, permit_limit);
  seen.value = bytes_of(table.text(row, value));
  return seen;
}

Waiter waiter(const Table& table, int row) {
  return {OwnerId::parse(table.text(row, owner)).value_or(OwnerId{}),
          mode_at(table, row),
          who(table, row),
          duration(table, row, age),
          count(table, row, permits),
          count(table, row, permit_limit)};
}

Granted granted(const Table& table, int row) {
  return {Fence{table.integer(row, fence)}, Fence{table.integer(row, floor)},
          duration(table, row, time_left)};
}

Busy busy(const Table& table, int row) {
  Busy found{duration(table, row, time_left)};
  if (row + 1 < table.rows()) {
    found.holder = holder(table, row + 1);
  }
  return found;
}

bool makes_sense(const Table& table) { return PQnfields(table.get()) == columns; }

Failed contradiction(const Table& table, int row) {
  return {errc::invalid_options, false, std::string{table.text(row, note)}};
}

}  // namespace

std::optional<AcquireReply> parse_acquired(const Table& table) {
  if (!makes_sense(table) || table.rows() == 0) {
    return std::nullopt;
  }
  const std::string_view answer = table.text(0, what);
  if (answer == "granted") {
    return granted(table, 0);
  }
  if (answer == "busy") {
    return busy(table, 0);
  }
  if (answer == "queued") {
    Busy found = busy(table, 0);
    return Queued{found.recheck_in, std::move(found.holder), Fence{table.integer(0, fence)}};
  }
  if (answer == "done") {
    return AlreadyDone{};
  }
  if (answer == "contradicts") {
    return contradiction(table, 0);
  }
  return std::nullopt;
}

std::optional<AcquireAllReply> parse_all_acquired(const Table& table,
                                                  const std::vector<std::string>& names) {
  if (!makes_sense(table) || table.rows() == 0) {
    return std::nullopt;
  }
  const std::int64_t which = table.integer(0, age) - 1;
  const bool in_range = which >= 0 && which < static_cast<std::int64_t>(names.size());
  if (table.text(0, what) == "contradicts" && in_range) {
    Failed failed = contradiction(table, 0);
    failed.detail = "\"" + names[static_cast<std::size_t>(which)] + "\": " + failed.detail;
    return failed;
  }
  if (table.text(0, what) == "which" && in_range && table.rows() > 1) {
    return AllBusy{static_cast<std::size_t>(which), busy(table, 1)};
  }
  AllGranted all;
  for (int row = 0; row < table.rows(); ++row) {
    if (table.text(row, what) != "granted") {
      return std::nullopt;
    }
    all.push_back(granted(table, row));
  }
  return all.size() == names.size() ? std::optional<AcquireAllReply>{std::move(all)} : std::nullopt;
}

std::optional<std::vector<RenewReply>> parse_renewed(const Table& table, std::size_t count) {
  if (!makes_sense(table) || static_cast<std::size_t>(table.rows()) != count) {
    return std::nullopt;
  }
  std::vector<RenewReply> replies(count);
  for (int row = 0; row < table.rows(); ++row) {
    const std::int64_t nr = table.integer(row, age);
    if (nr < 1 || nr > table.rows()) {
      return std::nullopt;
    }
    RenewReply& reply = replies[static_cast<std::size_t>(nr - 1)];
    const std::string_view answer = table.text(row, what);
    if (answer == "renewed") {
      reply = Renewed{duration(table, row, time_left)};
    } else if (answer == "taken" || answer == "broken") {
      reply = Gone{answer == "broken" ? GoneReason::broken : GoneReason::taken};
    } else {
      return std::nullopt;
    }
  }
  return replies;
}

std::optional<AmendReply> parse_amended(const Table& table) {
  if (!makes_sense(table) || table.rows() != 1) {
    return std::nullopt;
  }
  const std::string_view answer = table.text(0, what);
  if (answer == "amended") {
    return Amended{};
  }
  if (answer == "contradicts") {
    return contradiction(table, 0);
  }
  if (answer == "taken" || answer == "broken") {
    return Gone{answer == "broken" ? GoneReason::broken : GoneReason::taken};
  }
  return std::nullopt;
}

std::optional<WithdrawReply> parse_withdrawn(const Table& table) {
  if (!makes_sense(table) || table.rows() != 1) {
    return std::nullopt;
  }
  if (table.text(0, what) == "released") {
    return Released{};
  }
  return NotOwner{};
}

std::optional<BreakReply> parse_broken(const Table& table) {
  if (!makes_sense(table)) {
    return std::nullopt;
  }
  BreakDone done;
  for (int row = 0; row < table.rows(); ++row) {
    done.holders.push_back(holder(table, row));
  }
  return done;
}

std::optional<ListReply> parse_listed(const Table& table) {
  if (!makes_sense(table)) {
    return std::nullopt;
  }
  Page page;
  for (int row = 0; row < table.rows(); ++row) {
    const std::string_view kind = table.text(row, what);
    if (kind == "name") {
      page.names.push_back(
          {std::string{table.text(row, name)}, {}, {}, Fence{table.integer(row, fence)}});
    } else if (kind == "next") {
      page.next_cursor = table.text(row, name);
    } else if (page.names.empty()) {
      return std::nullopt;
    } else if (kind == "holder") {
      page.names.back().holders.push_back(holder(table, row));
    } else {
      page.names.back().waiters.push_back(waiter(table, row));
    }
  }
  return page;
}

std::optional<InspectReply> parse_inspected(const Table& table) {
  auto page = parse_listed(table);
  if (!page || std::get<Page>(*page).names.size() != 1) {
    return std::nullopt;
  }
  return std::move(std::get<Page>(*page).names.front());
}

}  // namespace holdfast::postgres
