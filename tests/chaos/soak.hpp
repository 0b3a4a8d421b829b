// Short and full forms of a case, and its figures. HOLDFAST_SOAK=1 asks for the full form.
#pragma once

#include <holdfast/types.hpp>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace holdfast::chaos {

inline bool soak() { return std::getenv("HOLDFAST_SOAK") != nullptr; }

template <class T>
T short_or_full(T short_form, T full_form) {
  return soak() ? full_form : short_form;
}

// One line a figure, e.g. "[ figure ] C02 redis cancel: runs=200 granted=101".
template <class... Parts>
void figure(const Parts&... parts) {
  std::cout << "[ figure ] ";
  (std::cout << ... << parts) << std::endl;
}

inline double ms(Duration value) {
  return std::chrono::duration<double, std::milli>(value).count();
}

}  // namespace holdfast::chaos
