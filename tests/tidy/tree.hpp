// The files of the project, as far as they are text of ours: no build folders, nothing hidden but
// the configuration files that are known by name.
#pragma once

#include "tests/tidy/source_text.hpp"

#include <vector>

namespace holdfast::tidy {

std::vector<File> project_files();

// Those of `files` below one of `folders`, with one of `endings`.
std::vector<File> select(const std::vector<File>& files, const std::vector<std::string>& folders,
                         const std::vector<std::string>& endings);

}  // namespace holdfast::tidy
