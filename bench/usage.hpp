// What this process has used up so far.
#pragma once

#include <cstddef>
#include <string>

namespace holdfast::bench {

double processor_seconds();  // of all threads, user and system
std::size_t heap_bytes();    // in use
int thread_count();

// `value` with that many digits after the point.
std::string decimal(double value, int digits);

}  // namespace holdfast::bench
