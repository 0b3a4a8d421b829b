// Where the password of a store comes from.
#pragma once

#include "base/store_url.hpp"

#include <string>

namespace holdfast {

// The first of: `given`, the URL's own, password_file= in the URL, HOLDFAST_PASSWORD, the first
// line of HOLDFAST_PASSWORD_FILE. Empty if there is none. Throws Error{invalid_options} that names
// a file which cannot be read.
std::string password_for(const StoreUrl& url, const std::string& given);

}  // namespace holdfast
