#include "cli/holder_text.hpp"

#include "base/duration_text.hpp"
#include "base/utf8.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

namespace holdfast::cli {

namespace {

using Json = nlohmann::ordered_json;

double seconds(Duration duration) { return std::chrono::duration<double>{duration}.count(); }

void add_way(Mode mode, std::uint32_t permits, std::uint32_t limit, Json& object) {
  object["mode"] = mode == Mode::shared ? "shared" : "exclusive";
  if (limit != 0) {
    object["permits"] = permits;
    object["limit"] = limit;
  }
}

void add_who(const Who& who, Json& object) {
  object["host"] = plain_text(who.host);
  object["pid"] = who.pid;
  if (!who.note.empty()) {
    object["note"] = plain_text(who.note);
  }
}

}  // namespace

std::string plain_text(std::string text) {
  if (!is_valid_utf8(text) || has_control_character(text)) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  }
  return text;
}

std::string who_text(const Who& who) {
  std::string text = who.host.empty() ? "an unknown host" : who.host;
  if (who.pid != 0) {
    text += ", pid " + std::to_string(who.pid);
  }
  return plain_text(who.note.empty() ? text : text + " (" + who.note + ")");
}

std::string way_text(Mode mode, std::uint32_t permits, std::uint32_t limit) {
  if (limit != 0) {
    return std::to_string(permits) + " of " + std::to_string(limit) +
           (limit == 1 ? " permit" : " permits");
  }
  return mode == Mode::shared ? "shared" : "";
}

std::string held_text(const Holder& holder) {
  if (holder.released) {
    return "kept closed for another " + duration_text(holder.ttl_left) + " after " +
           who_text(holder.who);
  }
  const std::string way = way_text(holder.mode, holder.permits, holder.limit);
  return "held by " + who_text(holder.who) + " for " + duration_text(holder.held_for) +
         (way.empty() ? "" : ", " + way);
}

Json to_json(const Holder& holder) {
  Json object{{"owner", holder.owner.text()}, {"fence", to_int(holder.fence)}};
  add_way(holder.mode, holder.permits, holder.limit, object);
  if (!holder.value.empty()) {
    object["value"] = plain_text(holder.value);
  }
  add_who(holder.who, object);
  object["held_for"] = seconds(holder.held_for);
  object["ttl_left"] = seconds(holder.ttl_left);
  object["broken"] = holder.broken;
  object["released"] = holder.released;
  return object;
}

Json to_json(const Waiter& waiter) {
  Json object{{"owner", waiter.owner.text()}};
  add_way(waiter.mode, waiter.permits, waiter.limit, object);
  add_who(waiter.who, object);
  object["waiting_for"] = seconds(waiter.waiting_for);
  return object;
}

Json to_json(const NameView& view) {
  Json object{{"name", view.name}, {"last_fence", to_int(view.last_fence)}};
  object["holders"] = Json::array();
  for (const Holder& holder : view.holders) {
    object["holders"].push_back(to_json(holder));
  }
  object["waiters"] = Json::array();
  for (const Waiter& waiter : view.waiters) {
    object["waiters"].push_back(to_json(waiter));
  }
  return object;
}

}  // namespace holdfast::cli
