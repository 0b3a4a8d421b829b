#include "client/module_store.hpp"

#include <holdfast/error.hpp>
#include <holdfast/version.hpp>

#include "module/store_module.hpp"

#include <string_view>

namespace holdfast {

std::shared_ptr<StoreFactory> make_module_store(const ModuleName& module, const StoreUrl& url,
                                                const std::string& password) {
  const auto& found =
      *static_cast<const StoreModule*>(module_symbol(module, "holdfast_store_module"));
  if (std::string_view{found.version} != version) {
    throw Error{errc::unsupported, "the " + std::string{module.what} + " module is of version " +
                                       found.version + ", this library of " + version};
  }
  return found.make_factory({error_category(), failure_category()}, url, password);
}

}  // namespace holdfast
