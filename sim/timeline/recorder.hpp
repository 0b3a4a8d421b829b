// Writes down a Timeline while a world runs: from the facts that the checkers hear, and from those
// who do things that are no facts (the job, the database, the network, model clients).
#pragma once

#include "sim/checker.hpp"
#include "sim/fact.hpp"
#include "sim/network.hpp"
#include "sim/timeline/timeline.hpp"
#include "sim/world.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim {

class Recorder {
 public:
  // `has_store`: without one there is no lane for it, and nothing may be recorded on it.
  Recorder(const World& world, std::size_t instances, bool has_store, std::string store_label,
           std::string database_label);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() = default;

  // A checker that never objects and tells this recorder, which must outlive it.
  std::unique_ptr<Checker> ear();
  void hear(const Fact& fact);

  void mark(MarkKind kind, std::size_t lane, std::optional<std::size_t> who, std::string text);
  void works(NodeId node, bool on);  // from looking at the lease to sending the write
  void started(NodeId node);
  void message_lost(Place from, Place to);

  std::size_t store_lane() const noexcept { return instances_; }
  std::size_t database_lane() const noexcept { return instances_ + (has_store_ ? 1U : 0U); }
  static std::string name_of(std::size_t instance) { return "#" + std::to_string(instance + 1); }

  // Ends what is open and gives the picture away; the verdict is the caller's to add, but for
  // overlap and idle time: `needed_until` says until when somebody should have been at work.
  Timeline finish(Duration needed_until);

 private:
  struct Lease {  // as its holder sees it
    NodeId node = 0;
    std::size_t span = 0;
    WorldTime until{};
    bool ended = false;
  };
  struct Kept {  // as the store sees it
    OwnerId owner{};
    std::size_t span = 0;
    WorldTime until{};
    bool shared = false;
  };

  void on(const Asked& f);
  void on(const Wanted& f);
  void on(const Refused& f);
  void on(const Trusts& f);
  void on(const Ended& f);
  void on(const Crashed& f);
  void on(const Paused& f);
  void on(const StoreGranted& f);
  void on(const StoreHolds& f);
  void on(const StoreQueued& f);
  void on(const StoreWithdrew& f);
  void on(const StoreForgot& f);
  void on(const Trouble& f);
  template <class Other>
  void on(const Other& /*fact*/) {}

  static Duration at(WorldTime when) { return when.time_since_epoch(); }
  std::size_t open(SpanKind kind, std::size_t lane, std::optional<std::size_t> who,
                   std::string text);
  void close(std::size_t span, WorldTime when) { spans_[span].to = at(when); }
  void close_key(const std::string& key);
  void end_lease(Lease& lease, WorldTime when);
  void end_kept(WorldTime when);  // all of them
  void end_kept_of(const OwnerId& owner, WorldTime when);
  void expire_kept();
  void add_margins();
  static void measure(Timeline& timeline, Duration needed_until);

  const World& world_;
  std::size_t instances_;
  bool has_store_;
  std::vector<Lane> lanes_{};
  std::vector<Span> spans_{};
  std::vector<Mark> marks_{};
  std::vector<Window> windows_{};
  std::map<std::string, std::size_t> open_{};  // by a key that says what it is
  std::map<OwnerId, Lease> leases_{};
  std::map<OwnerId, NodeId> nodes_{};  // whose an owner is
  std::map<OwnerId, WorldTime> kept_until_{};
  std::map<OwnerId, bool> queued_{};
  std::vector<Kept> kept_{};  // several: readers
};

}  // namespace holdfast::sim
