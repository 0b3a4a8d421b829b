// The verbs as queries, and their rows as answers. Pure. Durations go over as microseconds, rounded
// up.
#pragma once

#include <holdfast/claim.hpp>

#include "store/postgres/table.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace holdfast::postgres {

Query acquire_query(const Claim& claim, bool queue, const std::string& client);
Query acquire_all_query(std::span<const Claim> claims, const std::string& client);
Query renew_query(std::span<const Claim> claims);
Query amend_query(const Claim& claim);
Query withdraw_query(const Claim& claim, const WithdrawOptions& options);
Query break_query(const std::string& name, BreakMode mode);
Query inspect_query(const std::string& name);
Query list_query(const std::string& prefix, const std::string& cursor);

// nullopt: an answer that makes no sense.
std::optional<AcquireReply> parse_acquired(const Table& table);
std::optional<AcquireAllReply> parse_all_acquired(const Table& table,
                                                  const std::vector<std::string>& names);
std::optional<std::vector<RenewReply>> parse_renewed(const Table& table, std::size_t count);
std::optional<AmendReply> parse_amended(const Table& table);
std::optional<WithdrawReply> parse_withdrawn(const Table& table);
std::optional<BreakReply> parse_broken(const Table& table);
std::optional<InspectReply> parse_inspected(const Table& table);
std::optional<ListReply> parse_listed(const Table& table);

std::string bytea(const std::string& bytes);
// Puts ROW($n,…)::holdfast.lock_claim behind the SQL, and its parameters behind the others.
void add_claim(Query& query, const Claim& claim, const std::string& client);
// A text array as PostgreSQL writes it.
std::string array_text(const std::vector<std::string>& items);

}  // namespace holdfast::postgres
