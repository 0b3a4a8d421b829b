// What an error of Redis means to a caller of the store.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::redis {

// Where the error came from, for the text. Never a password.
struct Place {
  std::string server{};  // "db1:6379"
  std::string user{};    // empty: the default user
  std::string prefix{};
};

// `error` is the text after '-': "NOPERM this user has no permissions …".
Failed failure_of(std::string_view error, const Place& place);

Failed failed_with(errc code, const Place& place, std::string_view what,
                   bool may_have_had_effect = false);

// The server is a replica.
bool is_readonly(std::string_view error);

// What is missing, as the probe script tells it: command names, and "&PUBLISH" for channels.
Failed missing_rights(const std::vector<std::string>& missing, const Place& place);

}  // namespace holdfast::redis
