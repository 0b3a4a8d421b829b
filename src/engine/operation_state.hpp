// What an Operation refers to.
#pragma once

#include <holdfast/types.hpp>

#include <memory>
#include <utility>

namespace holdfast::detail {

class ClientCore;

struct OperationState {
  OperationState(std::weak_ptr<ClientCore> the_core, OwnerId the_owner)
      : core(std::move(the_core)), owner(the_owner) {}

  std::weak_ptr<ClientCore> core;
  OwnerId owner;
};

}  // namespace holdfast::detail
