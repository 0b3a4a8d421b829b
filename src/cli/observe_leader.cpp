#include "cli/observe_leader.hpp"

#include <holdfast/election.hpp>

#include "cli/exit_code.hpp"
#include "cli/holder_text.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace holdfast::cli {

namespace {

void print(const std::string& name, const std::optional<LeaderInfo>& leader, bool json) {
  if (!json) {
    std::cout << name << ": "
              << (leader ? "led by " + plain_text(leader->value) + ", term " +
                               std::to_string(to_int(leader->term))
                         : std::string{"no leader"})
              << std::endl;
    return;
  }
  nlohmann::ordered_json object{{"name", name}, {"leader", nullptr}};
  if (leader) {
    object["leader"] = {{"value", plain_text(leader->value)}, {"term", to_int(leader->term)}};
  }
  std::cout << object.dump() << std::endl;
}

}  // namespace

int observe_leader(const RunOptions& options) {
  Client client{options.store};
  Election election{client, options.name};
  election.leader();  // a store that is not there is told now; one that goes later is tried on
  std::stop_source closed;
  election.observe(closed.get_token(), [&](const std::optional<LeaderInfo>& leader) {
    print(options.name, leader, options.messages.json);
    if (!std::cout) {
      closed.request_stop();
    }
  });
  return exit_ok;
}

}  // namespace holdfast::cli
