// What `holdfast doctor` says about a PostgreSQL server.
#pragma once

#include <holdfast/claim.hpp>

#include "store/postgres/settings.hpp"
#include "store/postgres/table.hpp"

#include <vector>

namespace holdfast::postgres {

Query doctor_query();
Finding of_failure(const Failed& failed);
std::vector<Finding> judge_server(const Table& answer, const Settings& settings, Duration took,
                                  bool pooled);

}  // namespace holdfast::postgres
