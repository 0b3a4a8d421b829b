#include <holdfast/client.hpp>

#include "client/stores.hpp"
#include "runtime/host.hpp"

namespace holdfast {

// Here and not beside the other members: only this folder may know all stores. The options are
// copied, not moved: arguments are evaluated in any order, and the first one needs the password.
Client::Client(std::string_view url, ClientOptions options)
    : Client(make_store_factory(url, options.password), make_host(), options) {}

}  // namespace holdfast
