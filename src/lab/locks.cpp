#include "lab/locks.hpp"

#include <utility>

namespace holdfast::lab {

namespace {

using Json = nlohmann::ordered_json;

constexpr Duration look_every = std::chrono::seconds{1};
constexpr std::size_t names_max = 500;  // more than anybody reads
constexpr std::size_t events_max = 100;
constexpr std::size_t prefixes_max = 16;

// What is worth an event; ages and remaining times change all the time.
std::string essence_of(const NameView& view) {
  std::string text;
  for (const Holder& holder : view.holders) {
    text += holder.owner.text() + (holder.broken ? "b" : "") + (holder.released ? "r" : "");
  }
  for (const Waiter& waiter : view.waiters) {
    text += "w" + waiter.owner.text();
  }
  return text;
}

}  // namespace

std::string Locks::line_of(const NameView& view) const {
  std::string line = view.name + ": ";
  line += view.holders.empty() ? "free" : words_.held(view.holders.front());
  if (!view.waiters.empty()) {
    line += ", " + std::to_string(view.waiters.size()) + " waiting";
  }
  return line;
}

void Locks::note_changes(const std::map<std::string, NameView>& after, Seen& seen) const {
  for (const auto& [name, view] : after) {
    const auto old = seen.names.find(name);
    if (old == seen.names.end() || essence_of(old->second) != essence_of(view)) {
      seen.events.push_front(line_of(view));
    }
  }
  for (const auto& [name, view] : seen.names) {
    if (!after.contains(name)) {
      seen.events.push_front(name + ": free");
    }
  }
  if (seen.events.size() > events_max) {
    seen.events.resize(events_max);
  }
}

void Locks::read(const std::string& prefix, Seen& seen) {
  std::map<std::string, NameView> names;
  std::string cursor;
  do {
    Page page = client_.list(prefix, cursor);
    for (NameView& view : page.names) {
      names.insert_or_assign(view.name, std::move(view));
    }
    cursor = std::move(page.next_cursor);
  } while (!cursor.empty() && names.size() < names_max);
  if (std::exchange(seen.looked, true)) {  // what was there at the first look is no news
    note_changes(names, seen);
  }
  seen.names = std::move(names);
  seen.more = !cursor.empty();
  seen.at = BootClock::now();
}

Json Locks::look(const std::string& prefix) {
  const std::lock_guard lock{mutex_};
  if (seen_.size() >= prefixes_max && !seen_.contains(prefix)) {
    seen_.clear();
  }
  Seen& seen = seen_[prefix];
  if (!seen.looked || BootClock::now() - seen.at >= look_every) {
    read(prefix, seen);
  }
  Json names = Json::array();
  for (const auto& [name, view] : seen.names) {
    names.push_back(words_.json(view));
  }
  return {{"store", client_.url()},
          {"names", std::move(names)},
          {"more", seen.more},
          {"events", seen.events}};
}

std::string Locks::break_name(const std::string& name) {
  const BreakDone done = client_.break_name(name, BreakMode::ask_holder);
  if (done.holders.empty()) {
    return "nobody holds " + name;
  }
  return name + ", " + words_.held(done.holders.front()) +
         ", is marked as broken; it frees when its holder has stopped, at the latest at its expiry";
}

}  // namespace holdfast::lab
