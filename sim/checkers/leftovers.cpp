// A wait that failed or was cancelled, and a lease that was released, leave nothing behind:
//  * once the store executed a withdraw, that owner is neither granted nor queued for a TTL,
//  however
//    late an older acquire arrives (unless the store forgot its tombstones);
//  * while the client lives and nothing troubles its dealings with the store, what was left is gone
//    after a bound. A client that crashed, or was kept from the store for longer than the record
//    can last, leaves it to the TTL.
#include "sim/checkers/checkers.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace holdfast::sim {

namespace {

class Leftovers final : public Checker {
 public:
  explicit Leftovers(Duration bound) : Checker("leftovers"), bound_(bound) {}

  void hear(const Fact& fact, WorldTime now) override {
    std::visit([&](const auto& f) { on(f, now); }, fact);
  }

 private:
  struct Done {
    NodeId node = 0;
    WorldTime since{};
    bool reported = false;
  };
  struct Calm {
    int troubles = 0;
    WorldTime since{};
  };

  template <class Other>
  void on(const Other& /*fact*/, WorldTime /*now*/) {}

  void on(const Asked& f, WorldTime /*now*/) {
    if (f.verb == Verb::acquire || f.verb == Verb::queue) {
      owners_[f.attempt].insert(f.owner);
    }
    if (f.verb != Verb::withdraw) {
      lives_[f.owner] = f.life;
    }
  }
  void on(const Wanted& f, WorldTime /*now*/) { to_be_trusted_[f.attempt] = f.names; }
  void on(const Refused& f, WorldTime now) {
    to_be_trusted_.erase(f.attempt);
    for (const OwnerId& owner : owners_[f.attempt]) {
      done_[owner] = {f.node, now};
    }
    owners_.erase(f.attempt);
  }
  void on(const Trusts& f, WorldTime now) {
    const auto missing = to_be_trusted_.find(f.attempt);
    if (missing == to_be_trusted_.end() || owners_[f.attempt].erase(f.owner) == 0 ||
        --missing->second != 0) {
      return;
    }
    // Owners of earlier tries of this wait are done.
    for (const OwnerId& owner : owners_[f.attempt]) {
      done_[owner] = {f.node, now};
    }
    owners_.erase(f.attempt);
    to_be_trusted_.erase(missing);
  }
  void on(const Ended& f, WorldTime now) {
    if (f.how == Ending::released) {
      done_[f.owner] = {f.node, now};
    }
  }
  void on(const Crashed& f, WorldTime now) {
    std::erase_if(done_, [&](const auto& d) { return d.second.node == f.node; });
    calm_[f.node].since = now;
  }
  void on(const Paused& f, WorldTime now) { trouble(f.node, f.on, now); }
  void on(const Trouble& f, WorldTime now) { trouble(f.node, f.on, now); }
  void on(const StoreWithdrew& f, WorldTime /*now*/) {
    tombstones_[{reign(), f.owner}] = f.at + f.life;
  }
  void on(const StoreDeposed& f, WorldTime /*now*/) {
    split_.insert(f.owners.begin(), f.owners.end());
  }
  void on(const StoreForgot& f, WorldTime now) {
    tombstones_.clear();
    if (f.state_replaced) {
      done_.clear();  // a replica may bring back what was withdrawn, until its TTL
    }
    for (auto& [node, calm] : calm_) {
      calm.since = now;
    }
    last_forgot_ = now;
  }
  void on(const StoreGranted& f, WorldTime now) { entombed(f.owner, f.at, "granted", now); }
  void on(const StoreQueued& f, WorldTime now) { entombed(f.owner, f.at, "queued", now); }
  void on(const StoreHas& f, WorldTime now) {
    const auto done = done_.find(f.owner);
    if (done == done_.end() || done->second.reported || split_.contains(f.owner)) {
      return;
    }
    const Calm& calm = calm_[done->second.node];
    const WorldTime since = done->second.since;
    const WorldTime start = std::max({since, calm.since, last_forgot_});
    if (start > since && start + bound_ > since + lives_[f.owner]) {
      return;  // the client had reason to stop trying
    }
    if (calm.troubles == 0 && now - start > bound_) {
      done->second.reported = true;
      object(now, short_text(f.owner) + " is done but still in the store for " + f.name);
    }
  }

  void trouble(NodeId node, bool on, WorldTime now) {
    Calm& calm = calm_[node];
    calm.troubles += on ? 1 : -1;
    calm.since = now;
  }
  void entombed(const OwnerId& owner, Instant at, const char* what, WorldTime now) {
    const auto tombstone = tombstones_.find({reign(), owner});
    if (tombstone != tombstones_.end() && at < tombstone->second) {
      object(now, short_text(owner) + " was " + what + " after it had withdrawn");
    }
  }

  Duration bound_;
  std::map<AttemptId, std::set<OwnerId>> owners_{};
  std::map<AttemptId, std::size_t> to_be_trusted_{};
  std::map<OwnerId, Done> done_{};
  std::map<OwnerId, Duration> lives_{};
  std::map<NodeId, Calm> calm_{};
  std::map<std::pair<std::size_t, OwnerId>, Instant> tombstones_{};  // by reign
  std::set<OwnerId> split_{};  // what a deposed primary did for them the store does not know
  WorldTime last_forgot_{};
};

}  // namespace

std::unique_ptr<Checker> make_leftover_checker(Duration bound) {
  return std::make_unique<Leftovers>(bound);
}

}  // namespace holdfast::sim
