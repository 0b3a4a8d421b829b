// The real Host: loops on threads, lanes, notifier threads.
#pragma once

#include <holdfast/runtime.hpp>

namespace holdfast {

std::unique_ptr<Host> make_host();

}  // namespace holdfast
