// From a URL to its store. This folder is the only code that names all stores.
#pragma once

#include <holdfast/store.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast {

// Empty `url`: the default store, whose folder is made. Throws Error{invalid_url}, also for a
// scheme that this build does not know, with the ones it does; Error{invalid_options} for a
// password file that cannot be read.
std::shared_ptr<StoreFactory> make_store_factory(std::string_view url, const std::string& password);

// For `holdfast stores`.
struct StoreKind {
  std::string scheme{};   // "redis"
  std::string example{};  // a URL
  std::string scope{};    // between whom it locks
  std::string promise{};  // what holds and what does not
  bool queue = false;     // first come, first served
  std::string missing{};  // not empty: what this installation lacks for it
};
const std::vector<StoreKind>& store_kinds();

}  // namespace holdfast
