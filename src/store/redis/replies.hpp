// From the scripts' replies to the store's answers. nullopt: the reply has a shape that no script
// of ours gives, so nothing from that connection can be believed.
#pragma once

#include <holdfast/claim.hpp>

#include "store/redis/resp.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::redis {

// True for an answer that makes or keeps holders: it counts only once enough replicas have it.
bool grants(const Reply& reply);      // of acquire and acquire_all
bool renews_any(const Reply& reply);  // of renew

// `limit`: of the claim.
std::optional<AcquireReply> parse_acquired(const Reply& reply, std::uint32_t limit);
std::optional<AcquireAllReply> parse_all_acquired(const Reply& reply,
                                                  std::span<const Claim> claims);
std::optional<std::vector<RenewReply>> parse_renewed(const Reply& reply, std::size_t count);
std::optional<AmendReply> parse_amended(const Reply& reply);
std::optional<WithdrawReply> parse_withdrawn(const Reply& reply);
std::optional<BreakReply> parse_broken(const Reply& reply);
std::optional<NameView> parse_inspected(const Reply& reply, const std::string& name);

}  // namespace holdfast::redis
