// One of the processes that race in a run of `holdfast demo payout --matrix`.
#pragma once

#include <holdfast/types.hpp>

#include "cli/actor.hpp"
#include "cli/payout_case.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace holdfast::cli {

struct PayoutPlan {
  std::string store{};     // where the lock is
  std::string database{};  // postgres://…
  std::string schema{};    // made by the stage
  std::string lock_name{};
  PayoutWay way = PayoutWay::none;
  PayoutFault fault = PayoutFault::none;
  std::int64_t orders = 20;
  int workers = 6;
};

inline constexpr Duration payout_ttl = std::chrono::milliseconds{600};
inline constexpr std::int64_t payout_batch = 5;

struct PayoutNote {
  enum class Type : std::uint8_t {
    working,   // it holds the lock, if there is one, and asks which part it plays
    at_read,   // it has read a batch and is about to write it
    half_way,  // it has made one payout and not marked it
    paid,      // a batch was paid; number: its orders
    refused,   // a guard let nothing, or not all, of a batch through
    lost,      // it has learned that its lease is lost, and asks for the lock again
    done,      // nothing is left to pay
    failed,    // it ended; number: the exit code, text says why
  };
  Type type = Type::failed;
  std::int64_t number = 0;
  std::array<char, 200> text{};
};

// `unlucky`: stop at the moment that the fault needs, and wait for go_on.
enum class PayoutCue : std::uint8_t { start, lucky, unlucky, go_on };

// Forks a worker that waits for PayoutCue::start. Precondition: one thread.
Actor launch_worker(const PayoutPlan& plan);

}  // namespace holdfast::cli
