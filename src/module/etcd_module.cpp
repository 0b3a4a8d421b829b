#include "module/store_module.hpp"
#include "store/etcd/etcd_factory.hpp"

namespace holdfast {

extern "C" const StoreModule holdfast_store_module = store_module<make_etcd_factory>();

}  // namespace holdfast
