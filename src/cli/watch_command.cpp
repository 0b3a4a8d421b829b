#include <holdfast/client.hpp>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/holder_text.hpp"
#include "cli/look_options.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <iostream>
#include <map>

#include <poll.h>

namespace holdfast::cli {

namespace {

constexpr int pause_ms = 1000;  // each look costs the store a request

using Views = std::map<std::string, NameView>;

// What a watcher wants to hear about; ages and remaining times change all the time.
std::string essence_of(const NameView& view) {
  std::string text;
  for (const Holder& holder : view.holders) {
    text += holder.owner.text() + (holder.broken ? "b" : "") + (holder.released ? "r" : "") +
            (holder.mode == Mode::shared ? "s" : "") + holder.value + " ";
  }
  for (const Waiter& waiter : view.waiters) {
    text += "w" + waiter.owner.text() + " ";
  }
  return text;
}

Views look_at(Client& client, const std::string& name) {
  Views views;
  if (!name.empty()) {
    views.emplace(name, client.inspect(name));
    return views;
  }
  std::string cursor;
  do {
    Page page = client.list({}, cursor);
    for (NameView& view : page.names) {
      views.insert_or_assign(view.name, std::move(view));
    }
    cursor = std::move(page.next_cursor);
  } while (!cursor.empty());
  return views;
}

void print(const NameView& view, bool json) {
  if (json) {
    std::cout << to_json(view).dump() << std::endl;
    return;
  }
  std::string text = view.name + ": ";
  if (view.holders.empty()) {
    text += "free";
  } else {
    const Holder& holder = view.holders.front();
    text += held_text(holder) + ", fence " + std::to_string(to_int(holder.fence)) +
            (holder.value.empty() ? "" : ", value " + plain_text(holder.value)) +
            (holder.broken ? ", broken" : "");
    if (view.holders.size() > 1) {
      text += ", and " + std::to_string(view.holders.size() - 1) + " more";
    }
  }
  if (!view.waiters.empty()) {
    text += ", " + std::to_string(view.waiters.size()) + " waiting";
  }
  std::cout << text << std::endl;
}

// Prints what is new, and what is gone as free.
void print_changes(const Views& before, const Views& after, bool json) {
  for (const auto& [name, view] : after) {
    const auto old = before.find(name);
    if (old == before.end() || essence_of(old->second) != essence_of(view)) {
      print(view, json);
    }
  }
  for (const auto& [name, view] : before) {
    if (!after.contains(name)) {
      print(NameView{.name = name, .holders = {}, .waiters = {}, .last_fence = view.last_fence},
            json);
    }
  }
}

}  // namespace

int watch_command(Arguments arguments) {
  LookOptions look;
  std::string name;
  std::string count_text = "0";
  CommandLine line{"watch", "Prints changes of NAME, or of all names, until interrupted."};
  line.positional("NAME", name, "What to watch; all names if left out", false);
  look.add_to(line);
  line.option("--count", count_text, "N", "Look N times, once a second, and leave [0: for ever]");
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  long count = 0;
  const char* const end = count_text.data() + count_text.size();
  const auto parsed = std::from_chars(count_text.data(), end, count);
  if (parsed.ec != std::errc{} || parsed.ptr != end || count < 0) {
    throw UsageError{"--count " + count_text + " is not a number of looks"};
  }
  Client client{look.store};
  Views before;
  for (long looks = 1;; ++looks) {
    Views after = look_at(client, name);
    print_changes(before, after, look.json);
    before = std::move(after);
    if (looks == count || !std::cout) {
      return exit_ok;
    }
    poll(nullptr, 0, pause_ms);
  }
}

}  // namespace holdfast::cli
