// What a guard's call came to, before its form (throwing or not) is known.
#pragma once

#include <holdfast/error.hpp>

#include <string>

namespace holdfast::guard {

struct Outcome {
  std::error_code code{};
  std::string detail{};

  void raise() const {
    if (code) {
      throw Error(code, detail);
    }
  }
};

}  // namespace holdfast::guard
