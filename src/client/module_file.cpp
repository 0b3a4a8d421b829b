#include "client/module_file.hpp"

#include <holdfast/error.hpp>

#include <dlfcn.h>

#include <array>
#include <filesystem>

namespace holdfast {

namespace {

namespace fs = std::filesystem;

std::array<fs::path, 3> places_of(const ModuleName& module) {
  std::error_code code;
  const fs::path here = fs::read_symlink("/proc/self/exe", code).parent_path();
  return {here / module.file, (here / HOLDFAST_MODULES_FROM_BIN / module.file).lexically_normal(),
          fs::path{HOLDFAST_MODULES} / module.file};
}

}  // namespace

std::string find_module(const ModuleName& module) {
  for (const fs::path& place : places_of(module)) {
    std::error_code code;
    if (fs::exists(place, code)) {
      return place.string();
    }
  }
  return {};
}

const void* module_symbol(const ModuleName& module, const char* symbol) {
  const std::string file = find_module(module);
  const std::string what = std::string{"the "} + module.what + " module ";
  if (file.empty()) {
    throw Error{errc::unsupported, what + "is not installed: there is no " +
                                       places_of(module).back().string() +
                                       " (Debian: the package " + module.package + ")"};
  }
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  const void* const found = handle != nullptr ? dlsym(handle, symbol) : nullptr;
  if (found == nullptr) {
    throw Error{errc::unsupported, what + "cannot be opened: " + std::string(dlerror())};
  }
  return found;
}

}  // namespace holdfast
