// Files of this installation that are opened or started only when they are needed.
#pragma once

#include <filesystem>
#include <system_error>

namespace holdfast::cli {

// `name` beside this program, as in a build tree, or else at `from_bin`, its place seen from this
// program's folder, where `cmake --install` puts it. It need not exist.
inline std::filesystem::path installed_file(const char* name, const char* from_bin) {
  std::error_code code;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", code).parent_path();
  const auto beside = here / name;
  return std::filesystem::exists(beside, code) ? beside : (here / from_bin).lexically_normal();
}

}  // namespace holdfast::cli
