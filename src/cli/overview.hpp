// What `holdfast --help` says.
#pragma once

#include <string>

namespace holdfast::cli {

std::string overview();

}  // namespace holdfast::cli
