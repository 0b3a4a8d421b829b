// One leader, and somebody who watches.
#include <holdfast/holdfast.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

using namespace std::chrono_literals;

namespace {

void show(const std::optional<holdfast::LeaderInfo>& leader) {
  std::printf("leader: %s\n", leader ? leader->value.c_str() : "nobody");
}

}  // namespace

int main() {
  holdfast::Client client{"memory:"};
  holdfast::Election election{client, "scheduler", {.ttl = 10s}};

  std::jthread watching{[&](std::stop_token stop) {
    election.observe(stop, [](const auto& leader) { show(leader); });
  }};

  holdfast::Leadership mine = election.campaign("10.0.0.7:8080", {.timeout = 5s});
  std::printf("leading in term %lld\n", static_cast<long long>(to_int(mine.term())));
  if (!mine.lost().stop_requested()) {
    mine.proclaim("10.0.0.7:8080, ready");
  }
  mine.resign();
  return election.leader() ? 1 : 0;
}
