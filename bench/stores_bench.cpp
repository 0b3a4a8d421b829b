#include "bench/benchmarks.hpp"

namespace holdfast::bench {

std::vector<Table> bench_stores([[maybe_unused]] const Options& options) {
  std::vector<Table> tables;
#ifdef HOLDFAST_WITH_POSTGRES
  for (Table& table : bench_postgres(options)) {
    tables.push_back(std::move(table));
  }
#endif
  return tables;
}

}  // namespace holdfast::bench
