// Which processor a process runs on. Placement alone is a factor of four on a round trip, so every
// benchmark says where it ran.
#pragma once

#include <sys/types.h>

#include <string>

namespace holdfast::bench {

// The processors that this process was started with.
int processor_count();

// Binds a process and all its threads (0: this one). Throws std::system_error.
void pin(pid_t process, int processor);
// Undoes pin() of this process.
void unpin();

}  // namespace holdfast::bench
