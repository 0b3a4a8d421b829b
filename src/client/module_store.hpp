// Stores that live in a module of their own.
#pragma once

#include <holdfast/store.hpp>

#include "base/store_url.hpp"
#include "client/module_file.hpp"

#include <memory>
#include <string>

namespace holdfast {

// Throws Error{unsupported} if the module is missing or of another version; else what the store's
// own maker throws.
std::shared_ptr<StoreFactory> make_module_store(const ModuleName& module, const StoreUrl& url,
                                                const std::string& password);

}  // namespace holdfast
