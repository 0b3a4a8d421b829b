// The files of src/lab/page, which the build puts into the program.
#pragma once

#include <span>
#include <string_view>

namespace holdfast::lab {

struct PageFile {
  std::string_view path{};  // "/app.js"
  std::string_view type{};
  std::string_view text{};
};

std::span<const PageFile> page_files();

}  // namespace holdfast::lab
