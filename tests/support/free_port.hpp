// A port of the loopback that was free a moment ago. Another process may take it first: whoever
// starts a server on it tries again with another one.
#pragma once

#include <cstdint>

namespace holdfast::test {

std::uint16_t free_port();  // throws std::system_error

}  // namespace holdfast::test
