// diagnose(): one round trip for its latency, then every primary and the cluster as a whole.
#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "store/cluster/cluster_report.hpp"
#include "store/cluster/cluster_store.hpp"

#include <algorithm>

namespace holdfast::cluster {

namespace {

using Level = Finding::Level;

Finding of_failure(const Failed& failed) {
  if (failed.code == errc::access_denied) {
    return {Level::failure, failed.detail,
            "docs/stores/redis-cluster.md lists the rights that are needed"};
  }
  return {Level::failure, failed.detail, "check the URL and that the cluster's nodes run there"};
}

redis::Request command_of(std::string_view first, std::string_view second,
                          std::string_view third = {}) {
  redis::Request request = redis::Request::of_command(first);
  request.add(second);
  if (!third.empty()) {
    request.add(third);
  }
  return request;
}

}  // namespace

struct ClusterStore::Diagnosis {
  std::vector<Finding> findings;
  ClusterReport report;
  std::size_t left = 0;
  UniqueFunction<void(std::vector<Finding>)> done;

  void one_less(const SlotMap& map) {
    if (--left == 0) {
      for (Finding& finding : judge_cluster(map, report)) {
        findings.push_back(std::move(finding));
      }
      done(std::move(findings));
    }
  }
};

void ClusterStore::diagnose(UniqueFunction<void(std::vector<Finding>)> done) {
  const Instant by = deadline();
  auto diagnosis = std::make_shared<Diagnosis>();
  diagnosis->done = std::move(done);
  router_.when_known(by, [this, by, diagnosis](const Failed* failed) {
    if (failed != nullptr) {
      diagnosis->done({of_failure(*failed)});
    } else {
      ask_nodes(diagnosis, by);
    }
  });
}

void ClusterStore::ask_nodes(const std::shared_ptr<Diagnosis>& diagnosis, Instant by) {
  const std::vector<Address> nodes = router_.map().primaries();
  diagnosis->left = 3 * nodes.size();
  if (nodes.empty()) {
    diagnosis->left = 1;
    diagnosis->one_less(router_.map());
    return;
  }
  for (const Address& node : nodes) {
    router_.send_to(node, command_of("CLUSTER", "INFO"), by,
                    [this, diagnosis](const redis::Outcome& outcome) {
                      if (const auto* reply = std::get_if<redis::Reply>(&outcome)) {
                        diagnosis->report.state = reply->text();
                      }
                      diagnosis->one_less(router_.map());
                    });
    router_.send_to(node, command_of("CONFIG", "GET", "cluster-node-timeout"), by,
                    [this, diagnosis](const redis::Outcome& outcome) {
                      const auto* reply = std::get_if<redis::Reply>(&outcome);
                      if (reply != nullptr && reply->size() == 2) {
                        diagnosis->report.node_timeout = reply->at(1).number();
                      }
                      diagnosis->one_less(router_.map());
                    });
    const Instant asked = loop_.now();
    router_.send_to(
        node, redis::Request::of_command("INFO"), by,
        [this, diagnosis, node, asked](const redis::Outcome& outcome) {
          NodeReport report{.node = node};
          if (const auto* failed = std::get_if<Failed>(&outcome)) {
            report.why = failed->detail;
          } else {
            report.info = std::get<redis::Reply>(outcome).text();
            if (diagnosis->findings.empty()) {
              diagnosis->findings.push_back({Level::good,
                                             "reached " + node.text() + "; one answer takes " +
                                                 duration_text(loop_.now() - asked),
                                             ""});
            }
          }
          diagnosis->report.primaries.push_back(std::move(report));
          diagnosis->one_less(router_.map());
        });
  }
}

}  // namespace holdfast::cluster
