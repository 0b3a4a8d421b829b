// The wall clock of this host, so that people see since when a name is held. etcd tells no time. It
// decides nothing.
#pragma once

#include <cstdint>

namespace holdfast::etcd {

std::int64_t unix_ms();

}  // namespace holdfast::etcd
