#include "tests/support/redis_cluster.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/free_port.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace holdfast::test {

namespace {

constexpr unsigned slot_count = 16384;

void expect_ok(const std::string& answer, const std::string& what) {
  if (answer != "OK") throw std::runtime_error(what + ": " + answer);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream{text};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

unsigned first_slot(std::size_t primary) {
  return static_cast<unsigned>(primary * slot_count / RedisCluster::primaries);
}

}  // namespace

RedisCluster::RedisCluster(RedisClusterOptions options) : options_(std::move(options)) {
  const std::size_t count = options_.replicas ? 2 * primaries : primaries;
  for (std::size_t i = 0; i < count; ++i) {
    RedisOptions one{.bind = options_.bind, .tls = options_.tls, .user = options_.user};
    one.more = {"--cluster-enabled",
                "yes",
                "--cluster-config-file",
                "nodes.conf",
                "--cluster-node-timeout",
                options_.node_timeout,
                "--cluster-port",
                std::to_string(free_port()),
                "--repl-diskless-sync-delay",
                "0"};
    if (options_.tls) {
      one.more.insert(one.more.end(), {"--tls-cluster", "yes", "--tls-replication", "yes"});
    }
    one.more.insert(one.more.end(), options_.more.begin(), options_.more.end());
    nodes_.push_back(std::make_unique<RedisServer>(std::move(one)));
    ids_.push_back(nodes_.back()->command({"CLUSTER", "MYID"}));
  }
  form();
}

void RedisCluster::form() {
  for (std::size_t i = 0; i < primaries; ++i) {
    expect_ok(node(i).command({"CLUSTER", "ADDSLOTSRANGE", std::to_string(first_slot(i)),
                               std::to_string(first_slot(i + 1) - 1)}),
              "ADDSLOTSRANGE");
    expect_ok(node(i).command({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)}), "EPOCH");
  }
  const auto bus_port = [](RedisServer& server) {
    return lines_of(server.command({"CONFIG", "GET", "cluster-port"})).back();
  };
  for (std::size_t i = 1; i < size(); ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      expect_ok(node(i).command({"CLUSTER", "MEET", options_.bind,
                                 std::to_string(node(other).port()), bus_port(node(other))}),
                "MEET");
    }
  }
  for (std::size_t i = primaries; i < size(); ++i) {
    const std::string& primary = ids_[i - primaries];
    const bool done = eventually([&] {
      return node(i).command({"CLUSTER", "REPLICATE", primary}) == "OK";
    });
    if (!done) throw std::runtime_error("a replica does not know its primary");
  }
  const bool replicas_follow = eventually(
      [&] {
        for (std::size_t i = primaries; i < size(); ++i) {
          if (node(i).command({"INFO", "replication"}).find("master_link_status:up") ==
              std::string::npos) {
            return false;
          }
        }
        return ok();
      },
      std::chrono::seconds{20});
  if (!replicas_follow) throw std::runtime_error("the cluster does not come into being");
}

bool RedisCluster::ok() {
  for (const auto& one : nodes_) {
    const std::string slots = one->command({"CLUSTER", "INFO"});
    const std::string known = "cluster_known_nodes:" + std::to_string(size());
    const auto nodes = lines_of(one->command({"CLUSTER", "NODES"}));
    const auto replicas = std::ranges::count_if(
        nodes, [](const std::string& line) { return line.find("slave") != std::string::npos; });
    if (slots.find("cluster_state:ok") == std::string::npos ||
        slots.find(known) == std::string::npos ||
        static_cast<std::size_t>(replicas) != size() - primaries) {
      return false;
    }
  }
  return true;
}

std::string RedisCluster::url(const std::string& query) const {
  std::string url = options_.tls ? "rediss+cluster://" : "redis+cluster://";
  const std::string host = options_.bind == "::1" ? "[::1]" : options_.bind;
  for (std::size_t i = 0; i < primaries; ++i) {
    url += (i == 0 ? "" : ",") + host + ":" + std::to_string(nodes_[i]->port());
  }
  std::string joint = "?";
  if (options_.tls) {
    url += "?tls_ca=" + TestCertificates::get().authority();
    joint = "&";
  }
  return query.empty() ? url : url + joint + query;
}

std::size_t RedisCluster::owner_of(unsigned slot) const {
  std::size_t owner = 0;
  while (owner + 1 < primaries && slot >= first_slot(owner + 1)) ++owner;
  return owner;
}

bool RedisCluster::is_primary(std::size_t index) {
  return node(index).command({"ROLE"}).starts_with("master");
}

void RedisCluster::begin_move(unsigned slot, std::size_t from, std::size_t to) {
  const std::string number = std::to_string(slot);
  expect_ok(node(to).command({"CLUSTER", "SETSLOT", number, "IMPORTING", ids_[from]}), "IMPORTING");
  expect_ok(node(from).command({"CLUSTER", "SETSLOT", number, "MIGRATING", ids_[to]}), "MIGRATING");
}

void RedisCluster::move_keys(unsigned slot, std::size_t from, std::size_t to) {
  for (;;) {
    const auto keys =
        lines_of(node(from).command({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "100"}));
    if (keys.empty()) return;
    std::vector<std::string> words{
        "MIGRATE", options_.bind, std::to_string(node(to).port()), "", "0", "5000", "KEYS"};
    words.insert(words.end(), keys.begin(), keys.end());
    const std::string answer = node(from).command(words);
    if (answer != "NOKEY") expect_ok(answer, "MIGRATE");
  }
}

void RedisCluster::end_move(unsigned slot, std::size_t from, std::size_t to) {
  for (const std::size_t index : {to, from}) {
    expect_ok(node(index).command({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", ids_[to]}),
              "NODE");
  }
  // Two moves in one round of gossip would contradict each other for good.
  node(to).command({"CLUSTER", "BUMPEPOCH"});
  const auto epoch_of = [this](std::size_t index) {
    const std::string info = node(index).command({"CLUSTER", "INFO"});
    const std::string field = "cluster_current_epoch:";
    return std::stoi(info.substr(info.find(field) + field.size()));
  };
  const bool agreed = eventually([&] {
    for (std::size_t index = 0; index < primaries; ++index) {
      if (epoch_of(index) != epoch_of(to)) return false;
    }
    return true;
  });
  if (!agreed) throw std::runtime_error("the cluster does not agree on the move");
}

void RedisCluster::move_slot(unsigned slot, std::size_t from, std::size_t to) {
  begin_move(slot, from, to);
  move_keys(slot, from, to);
  end_move(slot, from, to);
}

void RedisCluster::fail_over(std::size_t primary, const std::string& how) {
  const std::size_t replica = primary + primaries;
  std::vector<std::string> words{"CLUSTER", "FAILOVER"};
  if (!how.empty()) words.push_back(how);
  const bool done = eventually(
      [&] {
        node(replica).command(words);
        return eventually([&] { return is_primary(replica); }, std::chrono::seconds{2});
      },
      std::chrono::seconds{20});
  if (!done) throw std::runtime_error("the replica does not take over");
}

}  // namespace holdfast::test
