#include "store/redis/errors.hpp"

#include <array>

namespace holdfast::redis {

namespace {

std::string who(const Place& place) {
  return place.user.empty() ? "the default user" : "user '" + place.user + "'";
}

std::string key_right(const Place& place) {
  return who(place) + " may not use keys under '" + place.prefix + "': grant ~" + place.prefix +
         "*";
}

std::string channel_right(const Place& place) {
  return who(place) + " may not use channels under '" + place.prefix + "': grant &" + place.prefix +
         "*";
}

// The text between the first pair of quotes.
std::string_view quoted(std::string_view text) {
  const auto open = text.find('\'');
  const auto close = text.find('\'', open + 1);
  if (open == std::string_view::npos || close == std::string_view::npos) {
    return {};
  }
  return text.substr(open + 1, close - open - 1);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Redis 6, 7.0 and 7.2 word these differently; a script's commands have words of their own.
bool is_rights_error(std::string_view error) {
  return error.starts_with("NOPERM") || contains(error, "The user executing the script can't");
}

std::string missing_right(std::string_view error, const Place& place) {
  if (contains(error, "channel")) {
    return channel_right(place);
  }
  const std::string_view command = quoted(error);
  if (!command.empty() && contains(error, "command")) {
    return who(place) + " may not run '" + std::string(command) + "': grant +" +
           std::string(command);
  }
  if (contains(error, "key")) {
    return key_right(place);
  }
  return who(place) +
         " may not run a command that the scripts need; see the list of rights in "
         "docs/stores/redis.md";
}

struct Rule {
  std::string_view start;
  errc code;
  std::string_view text;
};

// None of these has an effect: Redis refuses the command, or the script at its first write.
constexpr std::array rules{
    Rule{"WRONGPASS", errc::access_denied, "wrong user name or password"},
    Rule{"NOAUTH", errc::access_denied,
         "a password is needed: set HOLDFAST_PASSWORD, HOLDFAST_PASSWORD_FILE or password_file="},
    Rule{"DENIED", errc::access_denied,
         "Redis is in protected mode and takes no clients from other hosts"},
    Rule{"LOADING", errc::store_unavailable, "Redis is still loading its data"},
    Rule{"READONLY", errc::store_unavailable, "this is a read-only replica, not the primary"},
    Rule{"MASTERDOWN", errc::store_unavailable, "this replica has lost its primary"},
    Rule{"BUSY", errc::store_unavailable, "Redis is busy with somebody's slow script"},
    Rule{"NOREPLICAS", errc::store_unavailable,
         "too few replicas are connected (min-replicas-to-write)"},
    Rule{"MISCONF", errc::store_unavailable, "Redis refuses writes because it cannot save to disk"},
    Rule{"OOM", errc::store_unavailable, "Redis is out of memory: raise maxmemory or remove keys"},
    Rule{"ERR max number of clients", errc::store_unavailable,
         "Redis has no room for another client (maxclients)"},
    Rule{"CLUSTERDOWN", errc::store_unavailable, "the cluster is down"},
    Rule{"MOVED", errc::unsupported,
         "this is a node of a Redis Cluster, which redis:// does not support"},
    Rule{"ASK", errc::unsupported,
         "this is a node of a Redis Cluster, which redis:// does not support"},
    Rule{"WRONGTYPE", errc::unsupported,
         "a key of this name is not a string: another program uses it for something else"},
    Rule{"HOLDFAST_FORMAT", errc::format_too_new,
         "a newer holdfast keeps its locks under this prefix; use that version here too"},
    Rule{"HOLDFAST_FOREIGN", errc::unsupported,
         "another Redis client holds this name and cannot be asked; it can only be taken away now"},
};

}  // namespace

Failed failed_with(errc code, const Place& place, std::string_view what, bool may_have_had_effect) {
  return {.code = code,
          .may_have_had_effect = may_have_had_effect,
          .detail = place.server + ": " + std::string(what)};
}

Failed failure_of(std::string_view error, const Place& place) {
  if (is_rights_error(error)) {
    return failed_with(errc::access_denied, place, missing_right(error, place));
  }
  if (contains(error, "HOLDFAST_FENCE")) {
    return failed_with(
        errc::storage_unsafe, place,
        "the last fence of this name is damaged or used up; see docs/stores/redis.md");
  }
  for (const Rule& rule : rules) {
    // Before Redis 7 the error of a command inside a script comes wrapped in a line of its own.
    if (error.starts_with(rule.start) || contains(error, " -" + std::string(rule.start) + ' ')) {
      return failed_with(rule.code, place, rule.text);
    }
  }
  if (error.starts_with("ERR unknown command") || contains(error, "not allowed in cluster mode")) {
    return failed_with(errc::unsupported, place, error);
  }
  return failed_with(errc::store_unavailable, place, "Redis answered: " + std::string(error), true);
}

bool is_readonly(std::string_view error) {
  return error.starts_with("READONLY") || contains(error, " -READONLY ");
}

Failed missing_rights(const std::vector<std::string>& missing, const Place& place) {
  std::string commands;
  std::string channels;
  for (const std::string& right : missing) {
    if (right.starts_with('&')) {
      channels += " +" + (right.size() > 1 ? right.substr(1) : "PUBLISH");
    } else {
      commands += (commands.empty() ? "" : ", ") + right;
    }
  }
  if (!commands.empty()) {
    return failed_with(errc::access_denied, place,
                       who(place) + " may not run " + commands +
                           "; see the list of rights in docs/stores/redis.md");
  }
  return failed_with(errc::access_denied, place, channel_right(place) + channels);
}

}  // namespace holdfast::redis
