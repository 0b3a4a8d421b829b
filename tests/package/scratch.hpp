// A folder below the build folder, and commands run in it. For tests that build and install.
#pragma once

#include <filesystem>
#include <string>

namespace holdfast::package {

class Scratch {
 public:
  explicit Scratch(const std::string& name);  // empties the folder `name`

  const std::filesystem::path& path() const noexcept { return path_; }
  std::string operator/(const std::string& below) const { return (path_ / below).string(); }

  struct Result {
    int status = 0;  // 0: it ended well
    std::string output{};
  };
  // Runs a shell command in the folder. What it prints on both streams is the output.
  Result run(const std::string& command) const;

 private:
  std::filesystem::path path_;
};

}  // namespace holdfast::package
