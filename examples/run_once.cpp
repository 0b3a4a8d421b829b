// A job that many hosts try and one does, once for each run id; and a function under a lock.
#include <holdfast/holdfast.hpp>

#include <cstdio>

namespace {

void write_report(holdfast::Fence fence) {
  std::printf("report, fence %lld\n", static_cast<long long>(holdfast::to_int(fence)));
}

}  // namespace

int main() {
  holdfast::Client client{"memory:"};

  const holdfast::Once once{.job = "nightly-report", .run_id = "2026-11-30"};
  const auto result = holdfast::run_once(
      client, once, [](const holdfast::Lease& lease) { write_report(lease.fence()); });
  const bool first = result == holdfast::OnceResult::ran;

  // Success means that the lock was held from start to end; a loss stops the work and is an error.
  holdfast::Mutex index{client, "search-index"};
  const int pages = holdfast::run_exclusive(index, [](std::stop_token stop, holdfast::Fence) {
    int done = 0;
    while (done < 100 && !stop.stop_requested()) {
      ++done;
    }
    return done;
  });
  return first && pages == 100 ? 0 : 1;
}
