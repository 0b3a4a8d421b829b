#include <holdfast/client.hpp>

#include "base/duration_text.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/holder_text.hpp"
#include "cli/look_options.hpp"
#include "cli/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace holdfast::cli {

namespace {

std::vector<NameView> all_names(Client& client, const std::string& prefix) {
  std::vector<NameView> names;
  std::string cursor;
  do {
    Page page = client.list(prefix, cursor);
    std::move(page.names.begin(), page.names.end(), std::back_inserter(names));
    cursor = std::move(page.next_cursor);
  } while (!cursor.empty());
  // A page may repeat what another had: names come and go while the store is being read.
  const auto by_name = [](const NameView& a, const NameView& b) { return a.name < b.name; };
  const auto same = [](const NameView& a, const NameView& b) { return a.name == b.name; };
  std::sort(names.begin(), names.end(), by_name);
  names.erase(std::unique(names.begin(), names.end(), same), names.end());
  return names;
}

std::vector<std::string> row_of(const NameView& view) {
  const std::string waiting = std::to_string(view.waiters.size());
  if (view.holders.empty()) {
    return {view.name, "-", "-", "-", waiting, ""};
  }
  const Holder& holder = view.holders.front();
  const std::size_t others = view.holders.size() - 1;
  const std::string way = way_text(holder.mode, holder.permits, holder.limit);
  return {view.name,
          std::to_string(to_int(holder.fence)),
          duration_text(holder.held_for),
          duration_text(holder.ttl_left),
          waiting,
          (holder.released ? "released by " : "") + who_text(holder.who) +
              (way.empty() ? "" : ", " + way) + (holder.broken ? ", broken" : "") +
              (others == 0 ? "" : ", and " + std::to_string(others) + " more")};
}

}  // namespace

int list_command(Arguments arguments) {
  LookOptions look;
  std::string prefix;
  CommandLine line{"ls", "Lists the names that are held or waited for."};
  line.positional("PREFIX", prefix, "Only names that start with this", false);
  look.add_to(line);
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  Client client{look.store};
  const std::vector<NameView> names = all_names(client, prefix);
  if (look.json) {
    for (const NameView& view : names) {
      std::cout << to_json(view).dump() << '\n';
    }
  } else if (!names.empty()) {
    std::vector<std::vector<std::string>> rows{
        {"NAME", "FENCE", "HELD FOR", "TTL LEFT", "WAITING", "HOLDER"}};
    std::transform(names.begin(), names.end(), std::back_inserter(rows), row_of);
    std::cout << table_text(rows);
  }
  return exit_ok;
}

}  // namespace holdfast::cli
