// An SQLite file of its own, for the cases.
#pragma once

#include "tests/chaos/test_store.hpp"

#include <memory>
#include <string>

namespace holdfast::chaos {

std::unique_ptr<TestStore> start_sqlite();

// As an operator with a database shell. Throws std::runtime_error.
void run_sql(const std::string& file, const std::string& sql);
// What PRAGMA integrity_check says: "ok", or what is wrong.
std::string integrity_of(const std::string& file);

}  // namespace holdfast::chaos
