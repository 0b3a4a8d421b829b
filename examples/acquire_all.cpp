// Two accounts at once, whoever names them in whichever order.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdio>

using namespace std::chrono_literals;

namespace {

void transfer(const holdfast::Lease& from, const holdfast::Lease& to) {
  std::printf("%s -> %s\n", from.name().c_str(), to.name().c_str());
}

}  // namespace

int main() {
  holdfast::Client client{"memory:"};

  holdfast::LeaseGroup both =
      holdfast::acquire_all(client, {"account/9", "account/7"}, {.ttl = 10s}, {.timeout = 5s});
  if (!both.lost().stop_requested()) {
    transfer(both.leases()[0], both.leases()[1]);  // each has a fence of its own
  }
  both.release();

  std::error_code ec;
  both = holdfast::acquire_all(client, {"account/7"}, {}, {.timeout = 0s}, ec);
  return ec ? 1 : 0;
}
