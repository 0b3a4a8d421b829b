#include <holdfast/operation.hpp>

#include "engine/client_core.hpp"
#include "engine/operation_state.hpp"

namespace holdfast {

Operation::Operation(std::shared_ptr<detail::OperationState> state) noexcept
    : state_(std::move(state)) {}

void Operation::cancel() noexcept {
  if (!state_) {
    return;
  }
  if (const auto core = state_->core.lock()) {
    core->cancel(state_->owner);
  }
}

}  // namespace holdfast
