#include "sim/model_protocol.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::sim {

namespace {

std::vector<OwnerId> owners_of(const std::vector<Claim>& claims) {
  std::vector<OwnerId> owners;
  for (const Claim& claim : claims) {
    owners.push_back(claim.owner);
  }
  return owners;
}

}  // namespace

std::vector<OwnerId> owners_of(const Request& request) {
  if (const auto* acquire = std::get_if<AcquireRequest>(&request)) {
    return {acquire->claim.owner};
  }
  if (const auto* all = std::get_if<AcquireAllRequest>(&request)) {
    return owners_of(all->claims);
  }
  if (const auto* renew = std::get_if<RenewRequest>(&request)) {
    return owners_of(renew->claims);
  }
  if (const auto* amend = std::get_if<AmendRequest>(&request)) {
    return {amend->claim.owner};
  }
  if (const auto* withdraw = std::get_if<WithdrawRequest>(&request)) {
    return {withdraw->claim.owner};
  }
  return {};
}

AttemptId attempt_of(const Claim& claim) {
  const std::string& note = claim.who.note;
  AttemptId attempt = 0;
  if (!note.empty()) {
    std::from_chars(note.data() + 1, note.data() + note.size(), attempt);
  }
  return attempt;
}

bool says_yes(const Answer& answer) {
  if (const auto* renewals = std::get_if<std::vector<RenewReply>>(&answer)) {
    return std::ranges::any_of(
        *renewals, [](const RenewReply& reply) { return std::holds_alternative<Renewed>(reply); });
  }
  if (const auto* one = std::get_if<AcquireReply>(&answer)) {
    return std::holds_alternative<Granted>(*one);
  }
  const auto* all = std::get_if<AcquireAllReply>(&answer);
  return all != nullptr && std::holds_alternative<AllGranted>(*all);
}

}  // namespace holdfast::sim
