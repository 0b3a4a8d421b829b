// The live tab: who holds what in a real store, looked at no more often than once a second, however
// many pages ask. Thread-safe; a look blocks while the store is asked.
#pragma once

#include <holdfast/client.hpp>

#include <nlohmann/json.hpp>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace holdfast::lab {

// How locks are told to people and scripts; the command's own words.
struct LockWords {
  std::function<nlohmann::ordered_json(const NameView&)> json{};
  std::function<std::string(const Holder&)> held{};
};

class Locks {
 public:
  // Connects at the first look. Throws Error{invalid_url}.
  Locks(const std::string& store, LockWords words) : words_(std::move(words)), client_(store) {}
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;
  ~Locks() = default;

  // {"store", "names", "more", "events"}: the names that start with `prefix`, whether there are
  // more than are shown, and what has changed lately. Throws Error.
  nlohmann::ordered_json look(const std::string& prefix);
  // Asks the holder of `name` to stop, and says whom it hit; throws Error.
  std::string break_name(const std::string& name);

 private:
  struct Seen {
    Instant at{};
    std::map<std::string, NameView> names{};
    bool more = false;
    std::deque<std::string> events{};  // the latest first
    bool looked = false;
  };

  void read(const std::string& prefix, Seen& seen);
  void note_changes(const std::map<std::string, NameView>& after, Seen& seen) const;
  std::string line_of(const NameView& view) const;

  LockWords words_;
  std::mutex mutex_{};
  Client client_;
  std::map<std::string, Seen> seen_{};  // by prefix
};

}  // namespace holdfast::lab
