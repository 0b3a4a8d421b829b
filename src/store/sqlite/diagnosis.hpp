// What `holdfast doctor` says about a lock file.
#pragma once

#include "store/sqlite/session.hpp"

#include <holdfast/claim.hpp>

#include <vector>

namespace holdfast::sqlite {

std::vector<Finding> diagnose(Session& session);

}  // namespace holdfast::sqlite
