// What went wrong at PostgreSQL, in the words and codes of the store.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>

#include "store/postgres/table.hpp"

#include <string>

namespace holdfast::postgres {

// libpq's words as one line; they never hold a password.
std::string one_line(std::string_view words);

// Of a connection that was refused: libpq tells words only.
Failed why_refused(const std::string& place, std::string_view words);

// Of a statement.
Failed why_failed(const std::string& place, const Trouble& trouble);

// Worth asking again at once: the statement was rolled back for the sake of another.
bool is_collision(const Trouble& trouble);

}  // namespace holdfast::postgres
