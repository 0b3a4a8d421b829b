// Turns what went wrong into the answer of a verb.
#pragma once

#include <holdfast/claim.hpp>

#include <optional>
#include <string>

namespace holdfast::sqlite {

struct Explained {
  std::optional<Failed> failure{};  // nullopt: busy, worth another try
  bool reopen = false;              // the connection is of no more use
};

// Call it in a catch (...) block.
Explained explain_current_exception(const std::string& path);

}  // namespace holdfast::sqlite
