#include <holdfast/client.hpp>

#include "client/stores.hpp"
#include "runtime/host.hpp"

#include <utility>

namespace holdfast {

// Here and not beside the other members: only this folder may know all stores. Braces evaluate from
// left to right, so the password is read before the options move on.
Client::Client(std::string_view url, ClientOptions options)
    : Client{make_store_factory(url, options.password), make_host(), std::move(options)} {}

}  // namespace holdfast
