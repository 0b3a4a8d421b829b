// Whether this process is a forked child of the one that made something. Descriptors and threads
// do not survive a fork in a usable state, so what was made before it must stay inert after it.
#pragma once

namespace holdfast {

// Differs between a process and its forked children. Costs one load.
unsigned fork_generation() noexcept;

}  // namespace holdfast
