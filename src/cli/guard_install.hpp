// `holdfast guard install URL`: brings the guards into a database.
#pragma once

#include <optional>
#include <string>

namespace holdfast::cli {

struct GuardInstalled {
  std::string storage{};         // "postgres", "sqlite"
  std::string place{};           // for people: a database, a file
  std::optional<int> before{};   // the version that was there; none: no guard
  std::optional<int> version{};  // the version that is there now, where guards have one
  bool changed = true;           // false: all was there
};

// All of it is there afterwards, or an Error says why and nothing was changed. May be called again,
// and by two hosts at once. Throws UsageError for a URL of a storage without guards to install.
GuardInstalled install_guards(const std::string& url);

}  // namespace holdfast::cli
