#include "client/default_store.hpp"

#include <holdfast/error.hpp>

#include "base/percent.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace holdfast {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string home_folder() {
  if (std::string home = variable("HOME"); home.starts_with('/')) {
    return home;
  }
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr || found->pw_dir == nullptr || found->pw_dir[0] != '/') {
    return {};
  }
  return found->pw_dir;
}

std::string state_folder() {
  // A relative path is invalid by the XDG specification: it would be another store in each folder.
  if (const std::string state = variable("XDG_STATE_HOME"); state.starts_with('/')) {
    return state + "/holdfast";
  }
  if (geteuid() == 0) {
    return "/var/lib/holdfast";
  }
  const std::string home = home_folder();
  return home.empty() ? "" : home + "/.local/state/holdfast";
}

}  // namespace

std::string default_store_file() {
  const std::string folder = state_folder();
  return folder.empty() ? "" : folder + "/locks.db";
}

std::string default_store_url() {
  if (std::string url = variable("HOLDFAST_STORE"); !url.empty()) {
    return url;
  }
  const std::string file = default_store_file();
  if (file.empty()) {
    throw Error{errc::invalid_url,
                "this user has no home directory; name a store with --store or HOLDFAST_STORE"};
  }
  return "sqlite://" + percent_encode(file, "/");
}

void make_default_store_folder() {
  const std::filesystem::path folder = state_folder();
  std::filesystem::path made;
  for (const std::filesystem::path& part : folder) {
    made /= part;
    if (mkdir(made.c_str(), S_IRWXU) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) {
      throw Error{errc::store_unavailable, "cannot make the folder " + made.string() + ": " +
                                               std::generic_category().message(errno)};
    }
  }
  // What could not be made may exist beyond a folder that we must not write to.
  if (!std::filesystem::is_directory(folder)) {
    throw Error{errc::store_unavailable,
                "cannot make the folder " + folder.string() + "; name a store with --store"};
  }
}

}  // namespace holdfast
