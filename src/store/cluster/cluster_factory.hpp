// Locks in a Redis Cluster: redis+cluster://, rediss+cluster://. See README.md beside this file.
//
//   auto factory = make_cluster_factory(StoreUrl::parse("redis+cluster://n1:7000,n2,n3"),
//   password);
#pragma once

#include <holdfast/store.hpp>

#include "base/store_url.hpp"

#include <memory>
#include <string>

namespace holdfast {

// Throws Error{invalid_url}. `password` counts before one in the URL; empty: the URL's or none.
// Stores of it need a Runtime that is an EventLoop.
std::shared_ptr<StoreFactory> make_cluster_factory(const StoreUrl& url,
                                                   const std::string& password);

}  // namespace holdfast
