#include "module/store_module.hpp"
#include "store/postgres/postgres_factory.hpp"

namespace holdfast {

extern "C" const StoreModule holdfast_store_module = store_module<make_postgres_factory>();

}  // namespace holdfast
