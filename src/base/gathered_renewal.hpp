// The answer of renew() by a store that asks in several batches: one reply a claim, in the order of
// the claims, handed over when the last batch was answered.
//
//   const GatheredRenewal renewal{claims.size(), std::move(done)};
//   send(claims.subspan(first, count), renewal.batch(first, count));
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/function.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace holdfast {

class GatheredRenewal {
 public:
  using Batch = std::variant<std::vector<RenewReply>, Failed>;  // all of them failed
  using Handler = UniqueFunction<void(Batch)>;

  // Precondition: there is a claim, and each becomes part of one batch.
  GatheredRenewal(std::size_t claims, UniqueFunction<void(std::vector<RenewReply>)> done)
      : state_(std::make_shared<State>()) {
    state_->replies.resize(claims);
    state_->unanswered = claims;
    state_->done = std::move(done);
  }

  // Takes what the claims at these places are answered.
  Handler batch(std::vector<std::size_t> places) const {
    return [state = state_, places = std::move(places)](Batch batch) {
      for (std::size_t i = 0; i < places.size(); ++i) {
        if (auto* replies = std::get_if<std::vector<RenewReply>>(&batch)) {
          state->replies[places[i]] = std::move((*replies)[i]);
        } else {
          state->replies[places[i]] = std::get<Failed>(batch);
        }
      }
      state->unanswered -= places.size();
      if (state->unanswered == 0) {
        state->done(std::move(state->replies));
      }
    };
  }
  Handler batch(std::size_t first, std::size_t count) const {
    std::vector<std::size_t> places(count);
    std::iota(places.begin(), places.end(), first);
    return batch(std::move(places));
  }

 private:
  struct State {
    std::vector<RenewReply> replies{};
    std::size_t unanswered = 0;  // claims
    UniqueFunction<void(std::vector<RenewReply>)> done{};
  };
  std::shared_ptr<State> state_;
};

// Asks for `claims` in batches of at most `most`: ask(batch, handler).
template <class Ask>
void renew_in_batches(std::span<const Claim> claims, std::size_t most,
                      UniqueFunction<void(std::vector<RenewReply>)> done, Ask ask) {
  const GatheredRenewal renewal{claims.size(), std::move(done)};
  for (std::size_t first = 0; first < claims.size(); first += most) {
    const std::size_t count = std::min(most, claims.size() - first);
    ask(claims.subspan(first, count), renewal.batch(first, count));
  }
}

}  // namespace holdfast
