// Stores in an SQLite file: sqlite:///absolute/path?op_timeout=2s. For the processes of one host.
#pragma once

#include "base/store_url.hpp"

#include <holdfast/store.hpp>

#include <memory>

namespace holdfast {

// Throws Error{invalid_url}. README.md in this folder has the parameters.
std::shared_ptr<StoreFactory> make_sqlite_factory(const StoreUrl& url);

namespace sqlite {
struct Settings;
// The same with settings that no URL can express: tests run on another boot's clock.
std::shared_ptr<StoreFactory> make_factory(Settings settings);
}  // namespace sqlite

}  // namespace holdfast
