// The statements of mode=advisory; their answers have the shape of all others (queries.hpp). Pure.
#pragma once

#include <holdfast/claim.hpp>

#include "store/postgres/table.hpp"

#include <string>
#include <vector>

namespace holdfast::postgres {

Query try_query(const Claim& claim, const std::string& client);
std::int64_t key_of(const Table& granted);
Query verify_query(const std::vector<std::string>& names, const std::vector<std::string>& owners);
Query drop_query(const std::string& name, const OwnerId& owner, std::int64_t key, Mode mode);
Query amend_hold_query(const Claim& claim, std::int64_t key);
Query broken_holds_query(const std::string& client);
Query break_hold_query(const std::string& name, BreakMode mode);
Query inspect_holds_query(const std::string& name);
Query list_holds_query(const std::string& prefix, const std::string& cursor);

}  // namespace holdfast::postgres
