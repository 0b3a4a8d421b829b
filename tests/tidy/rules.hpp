// The rules of the house, each a function from files to findings, so that each can be shown to
// fail. tests/tidy/tree_test.cpp applies them to the project, rules_test.cpp to bad examples.
#pragma once

#include "tests/tidy/source_text.hpp"

#include <vector>

namespace holdfast::tidy {

// Which layer may include which, and who may use which foreign library.
std::vector<Finding> check_arrows(const File& file);

// Calls that have a better replacement here.
std::vector<Finding> check_banned(const File& file);

// Line, function and file length; header banner and #pragma once.
std::vector<Finding> check_shape(const File& file);

// Words that must not be in any text file: unfinished work, places outside the project.
std::vector<Finding> check_words(const File& file);

// Headers of the product that no file includes.
std::vector<Finding> check_dead_headers(const std::vector<File>& files);

// C++ blocks of a page whose lines are in no file that is compiled.
std::vector<Finding> check_snippets(const File& page, const std::vector<File>& examples);

// Links of a page to files of the project that are not there. `paths`: all that are.
std::vector<Finding> check_links(const File& page, const std::vector<std::string>& paths);

// The declarations that the public headers show, one a line.
std::string api_listing(const std::vector<File>& public_headers);

}  // namespace holdfast::tidy
