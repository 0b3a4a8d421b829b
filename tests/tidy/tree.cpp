#include "tests/tidy/tree.hpp"
#include "test_paths.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace holdfast::tidy {

namespace {

namespace fs = std::filesystem;

bool skipped_folder(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == ".git" || name == "build" || name.starts_with("build-") || name == ".cache";
}

}  // namespace

std::vector<File> project_files() {
  const fs::path root{HOLDFAST_SOURCE_DIR};
  std::vector<File> files;
  for (auto entry = fs::recursive_directory_iterator{root};
       entry != fs::recursive_directory_iterator{}; ++entry) {
    if (entry->is_directory()) {
      if (skipped_folder(entry->path())) {
        entry.disable_recursion_pending();
      }
      continue;
    }
    if (!entry->is_regular_file() || entry->path().filename() == ".git") {
      continue;  // the .git of a linked work tree is a file
    }
    std::ifstream in{entry->path(), std::ios::binary};
    files.push_back({fs::relative(entry->path(), root).generic_string(),
                     std::string{std::istreambuf_iterator<char>{in}, {}}});
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

std::vector<File> select(const std::vector<File>& files, const std::vector<std::string>& folders,
                         const std::vector<std::string>& endings) {
  std::vector<File> chosen;
  std::copy_if(files.begin(), files.end(), std::back_inserter(chosen), [&](const File& file) {
    return starts_with_any(file.path, folders) &&
           std::any_of(endings.begin(), endings.end(),
                       [&](const std::string& ending) { return file.path.ends_with(ending); });
  });
  return chosen;
}

}  // namespace holdfast::tidy
