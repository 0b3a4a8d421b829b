#include "client/password.hpp"

#include <holdfast/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

namespace holdfast {

namespace {

std::string first_line_of(const std::string& path) {
  std::ifstream file{path};
  std::string line;
  if (!file || !std::getline(file, line)) {
    const int error = file.is_open() ? 0 : errno;
    throw Error{errc::invalid_options,
                "the password file " + path + ": " +
                    (error == 0 ? "it is empty" : std::generic_category().message(error))};
  }
  if (line.ends_with('\r')) {
    line.pop_back();
  }
  return line;
}

}  // namespace

std::string password_for(const StoreUrl& url, const std::string& given) {
  if (!given.empty()) {
    return given;
  }
  if (!url.password.empty()) {
    return url.password;
  }
  if (const std::string* const path = url.option("password_file")) {
    return first_line_of(*path);
  }
  if (const char* const password = std::getenv("HOLDFAST_PASSWORD"); password != nullptr) {
    return password;
  }
  if (const char* const path = std::getenv("HOLDFAST_PASSWORD_FILE"); path != nullptr) {
    return first_line_of(path);
  }
  return {};
}

}  // namespace holdfast
