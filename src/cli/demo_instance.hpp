// One of the processes that race in `holdfast demo payout`.
#pragma once

#include "cli/actor.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace holdfast::cli {

struct DemoPlan {
  std::string store{};
  std::string lock_name{};
  std::string ledger{};
  std::int64_t orders = 200;
  int instances = 6;
  bool guarded = true;
};

// What an instance tells the stage.
struct DemoNote {
  enum class Type : std::uint8_t {
    busy,        // somebody else holds the lock
    granted,     // number: the fence
    middle,      // it has read a batch and is about to write it; number: paid so far
    paid,        // number: paid so far
    refused,     // the guard refused a batch as stale; number: its orders
    late_write,  // a batch was written after the freeze, unguarded; number: its orders
    lost,        // it has learned that its lease is lost
    done,        // it ended well; number: paid in all
    failed,      // it ended; number: the exit code, text says why
  };
  Type type = Type::failed;
  std::int64_t number = 0;
  std::array<char, 200> text{};
};

// What the stage tells an instance.
enum class DemoCue : std::uint8_t { race, leave, stand_by, go_on };

// Forks a process that waits for its cue. It dies with this process. Precondition: one thread.
Actor launch_instance(const DemoPlan& plan);

}  // namespace holdfast::cli
