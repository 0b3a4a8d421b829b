// A place in a simulated world. Its stores run in virtual time, on one thread.
#pragma once

#include "tests/conformance/place.hpp"

#include <memory>

namespace holdfast::conformance {

std::unique_ptr<Place> make_sim_place();

}  // namespace holdfast::conformance
