// A process that takes several names at once, for R09. What happens is told on stdout, a line each:
//
//   granted · lost · failed WORD · done
//
// group_taker --store URL --names N,N… [--ttl D] [--loop N] [--die-one-in N] [--log FILE]
//
// Each round takes some of the names, at least two, in an order of chance, and holds them for up to
// 5 ms. --die-one-in: kills itself while it holds, in one of so many rounds.
#include <holdfast/acquire_all.hpp>

#include "base/duration_text.hpp"
#include "tests/support/overlap_log.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <thread>

namespace {

using namespace holdfast;
using namespace std::chrono_literals;

class GroupTaker {
 public:
  GroupTaker(Client& client, std::map<std::string, std::string> options)
      : client_(client), options_(std::move(options)), random_(static_cast<unsigned>(getpid())) {
    std::istringstream names{options_["--names"]};
    for (std::string name; std::getline(names, name, ',');) {
      names_.push_back(name);
      logs_[name] = std::make_unique<test::OverlapLog>(options_["--log"] + "." + name);
    }
  }

  void run() {
    const int rounds = std::stoi(options_["--loop"]);
    for (int i = 0; i < rounds; ++i) {
      round();
    }
    std::cout << "done" << std::endl;
  }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random_);
  }

  std::vector<std::string> some_names() {
    std::vector<std::string> some = names_;
    std::ranges::shuffle(some, random_);
    some.resize(2 + below(names_.size() - 1));
    return some;
  }

  void round() {
    const LeaseOptions lease{.ttl = parse_duration(options_["--ttl"]).value()};
    std::error_code code;
    LeaseGroup group = acquire_all(client_, some_names(), lease, {.timeout = 60s}, code);
    if (code) {
      std::cout << "failed " << error_word(static_cast<errc>(code.value())) << std::endl;
      return;
    }
    std::atomic<bool> inside{true};
    const auto leave = [&] {
      if (inside.exchange(false)) {
        for (const Lease& held : group.leases()) {
          logs_.at(held.name())->leave(id_, to_int(held.fence()));
        }
      }
    };
    for (const Lease& held : group.leases()) {
      logs_.at(held.name())->enter(id_, to_int(held.fence()));
    }
    std::cout << "granted" << std::endl;
    {
      const std::stop_callback on_lost{group.lost(), [&] {
                                         leave();
                                         std::cout << "lost" << std::endl;
                                       }};
      if (const int odds = std::stoi(options_["--die-one-in"]); odds != 0) {
        if (below(static_cast<std::size_t>(odds)) == 0) {
          raise(SIGKILL);
        }
      }
      std::this_thread::sleep_for(std::chrono::microseconds{below(5000)});
      leave();
    }
    group.release(code);
  }

  Client& client_;
  std::map<std::string, std::string> options_;
  std::mt19937_64 random_;
  const std::string id_ = std::to_string(getpid());
  std::vector<std::string> names_{};
  std::map<std::string, std::unique_ptr<test::OverlapLog>> logs_{};
};

}  // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::map<std::string, std::string> options{
      {"--ttl", "30s"}, {"--loop", "1"}, {"--die-one-in", "0"}};
  for (int i = 1; i + 1 < argc; i += 2) {
    options[argv[i]] = argv[i + 1];
  }
  try {
    Client client{options["--store"]};
    GroupTaker{client, options}.run();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 69;
  }
}
