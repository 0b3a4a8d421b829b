// From the scripts' replies to the store's answers. nullopt: the reply has a shape that no script
// of ours gives, so nothing from that connection can be believed.
#pragma once

#include <holdfast/claim.hpp>

#include "store/redis/resp.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {

std::optional<AcquireReply> parse_acquired(const Reply& reply);
std::optional<std::vector<RenewReply>> parse_renewed(const Reply& reply, std::size_t count);
std::optional<WithdrawReply> parse_withdrawn(const Reply& reply);
std::optional<BreakReply> parse_broken(const Reply& reply);
std::optional<NameView> parse_inspected(const Reply& reply, const std::string& name);

}  // namespace holdfast::redis
