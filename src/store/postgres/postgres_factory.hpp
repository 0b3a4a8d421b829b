// Locks in a PostgreSQL database: postgres://. See README.md beside this file.
//
//   auto factory = make_postgres_factory(StoreUrl::parse("postgres://app@db1/app"), password);
#pragma once

#include <holdfast/store.hpp>

#include "base/store_url.hpp"

#include <memory>
#include <string>

namespace holdfast {

// Throws Error{invalid_url}. `password` counts before one in the URL; empty: the URL's or none.
// Stores of it need a Runtime that is an EventLoop.
std::shared_ptr<StoreFactory> make_postgres_factory(const StoreUrl& url,
                                                    const std::string& password);

}  // namespace holdfast
