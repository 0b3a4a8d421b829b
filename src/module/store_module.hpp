// What libholdfast and a module with a store say to each other. The module holds all that needs a
// foreign client library; it is opened when a URL asks for its store, so that no other program
// loads that library.
//
//   // src/module/etcd_module.cpp
//   extern "C" const StoreModule holdfast_store_module = store_module<make_etcd_factory>();
#pragma once

#include <holdfast/store.hpp>
#include <holdfast/version.hpp>

#include "base/adopted_errors.hpp"
#include "base/store_url.hpp"

#include <memory>
#include <string>

namespace holdfast {

struct StoreModule {
  const char* version;  // must be the library's own: the two are of one build
  // Throws Error like any other factory's maker.
  std::shared_ptr<StoreFactory> (*make_factory)(const ErrorCategories& hosts, const StoreUrl& url,
                                                const std::string& password);
};

template <std::shared_ptr<StoreFactory> (*make)(const StoreUrl&, const std::string&)>
constexpr StoreModule store_module() {
  return {version,
          [](const ErrorCategories& hosts, const StoreUrl& url, const std::string& password) {
            adopt_errors(hosts);
            return make(url, password);
          }};
}

// The module's only symbol.
extern "C" const StoreModule holdfast_store_module;

}  // namespace holdfast
