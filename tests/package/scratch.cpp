#include "tests/package/scratch.hpp"
#include "test_paths.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace holdfast::package {

Scratch::Scratch(const std::string& name)
    : path_(std::filesystem::path{HOLDFAST_BUILD_DIR} / "package" / name) {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

Scratch::Result Scratch::run(const std::string& command) const {
  const std::string log = (path_ / "output.txt").string();
  const std::string line = "cd '" + path_.string() + "' && ( " + command + " ) >'" + log + "' 2>&1";
  Result result;
  result.status = std::system(line.c_str());
  std::ifstream in{log};
  result.output = {std::istreambuf_iterator<char>{in}, {}};
  return result;
}

}  // namespace holdfast::package
