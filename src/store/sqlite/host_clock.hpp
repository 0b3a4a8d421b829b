// Which boot-time clock the times in the file are on. Instants of two boots, or of two time
// namespaces, cannot be compared.
#pragma once

#include <holdfast/types.hpp>

#include <string>

namespace holdfast::sqlite {

struct HostClock {
  std::string boot_id{};                // of the kernel: new at every boot
  std::string time_namespace{};         // "time:[4026531834]"; empty on kernels without them
  std::int64_t (*unix_us)() = nullptr;  // the wall clock: lifts fences, decides nothing else

  // Throws Error{storage_unsafe} if /proc cannot be read.
  static HostClock of_this_process();
};

}  // namespace holdfast::sqlite
