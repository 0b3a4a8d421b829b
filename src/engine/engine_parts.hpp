// What the engine keeps for each wait, watched lease and clean-up. For engine*.cpp only.
#pragma once

#include "engine/engine.hpp"

#include <memory>
#include <utility>

namespace holdfast::detail {

struct Engine::Wait {
  Wait(AcquireMachine the_machine, AcquireHandler the_handler)
      : machine(std::move(the_machine)), handler(std::move(the_handler)) {}

  AcquireMachine machine;
  AcquireHandler handler;
  Runtime::TimerId timer = 0;
  OwnerId told{};  // the holder that was last told to the sink
};

struct Engine::Watched {
  std::shared_ptr<LeaseState> state;
  LeaseMachine machine;
  Instant due{};
};

struct Engine::Cleanup {
  Cleanup(Claim the_claim, WithdrawOptions the_options, Instant give_up_at)
      : claim(std::move(the_claim)),
        options(the_options),
        machine(give_up_at, std::hash<OwnerId>{}(claim.owner)) {}

  Claim claim;
  WithdrawOptions options;
  CleanupMachine machine;
  Runtime::TimerId timer = 0;
};

}  // namespace holdfast::detail
