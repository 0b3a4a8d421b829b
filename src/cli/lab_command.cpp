#include "cli/command.hpp"

#include <holdfast/error.hpp>

#include "cli/installed_file.hpp"

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace holdfast::cli {

// The lab is a program of its own, so that what it needs is not loaded by every `holdfast run`.
int lab_command(Arguments arguments) {
  std::string program = installed_file("holdfast-lab", HOLDFAST_LAB_FROM_BIN).string();
  std::vector<std::string> copies{program};
  copies.insert(copies.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  raw.reserve(copies.size() + 1);
  for (std::string& copy : copies) {
    raw.push_back(copy.data());
  }
  raw.push_back(nullptr);
  execv(program.c_str(), raw.data());
  throw Error{
      make_error_code(errc::store_unavailable),
      "the lab cannot be started: " + program + ": " + std::generic_category().message(errno)};
}

}  // namespace holdfast::cli
