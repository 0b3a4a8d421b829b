// What an etcd:// URL says. Shared by all stores of one factory.
#pragma once

#include <holdfast/types.hpp>

#include "base/store_url.hpp"
#include "store/etcd/keys.hpp"

#include <string>
#include <vector>

namespace holdfast::etcd {

struct Settings {
  // Throws Error{invalid_url} that names the offending part. A password in `password` counts before
  // the URL's.
  Settings(const StoreUrl& url, const std::string& password);

  std::vector<std::string> endpoints;  // "127.0.0.1:2379", "[::1]:2379"
  std::string place;                   // all of them, for people
  std::string user;                    // empty: none
  std::string password;
  Keys keys;
  Duration op_timeout;
  bool tls = false;
  std::string tls_ca;  // PEM texts, empty: those of the system, or none
  std::string tls_cert;
  std::string tls_key;
  std::string tls_name;  // the name in the certificate, where it is not that of the URL
};

}  // namespace holdfast::etcd
