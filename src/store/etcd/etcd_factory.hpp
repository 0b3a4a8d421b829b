// Stores over an etcd cluster: etcd://[USER@]HOST[:PORT][,HOST…][?prefix=…]. Options and
// guarantees: docs/stores/etcd.md.
//
//   auto factory = make_etcd_factory(StoreUrl::parse("etcd://n1:2379,n2,n3"), "");
#pragma once

#include <holdfast/store.hpp>

#include "base/store_url.hpp"

#include <memory>
#include <string>

namespace holdfast {

// Throws Error{invalid_url}. `password` counts before one in the URL; empty: the URL's or none.
// gRPC is not touched before the first open().
std::shared_ptr<StoreFactory> make_etcd_factory(const StoreUrl& url, const std::string& password);

}  // namespace holdfast
