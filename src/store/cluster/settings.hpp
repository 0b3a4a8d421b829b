// What a redis+cluster:// URL says. Shared by all stores of one factory.
#pragma once

#include "base/store_url.hpp"
#include "store/cluster/address.hpp"
#include "store/cluster/hub.hpp"
#include "store/redis/settings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace holdfast::cluster {

struct Settings {
  // Throws Error{invalid_url} that names the offending part. A password in `password` counts before
  // the URL's.
  Settings(const StoreUrl& url, const std::string& password);

  // Everything but where: what each node's connections are told.
  std::shared_ptr<const redis::Settings> of_node(const Address& node) const;

  std::vector<Address> seeds;
  redis::Settings any_node;  // of the first seed
  std::shared_ptr<Hub> hub = std::make_shared<Hub>();
};

}  // namespace holdfast::cluster
