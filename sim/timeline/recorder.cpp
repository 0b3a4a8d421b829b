#include "sim/timeline/recorder.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

class Ear final : public Checker {
 public:
  explicit Ear(Recorder& recorder) : Checker("recorder"), recorder_(recorder) {}
  void hear(const Fact& fact, WorldTime /*now*/) override {
    if (!deposed()) {  // the picture has one store
      recorder_.hear(fact);
    }
  }

 private:
  Recorder& recorder_;
};

std::string fence_text(Fence fence) {
  return fence == Fence::none ? std::string{} : ", fence " + std::to_string(to_int(fence));
}

std::string key_of(const char* what, std::size_t which) { return what + std::to_string(which); }

}  // namespace

Recorder::Recorder(const World& world, std::size_t instances, bool has_store,
                   std::string store_label, std::string database_label)
    : world_(world), instances_(instances), has_store_(has_store) {
  for (std::size_t i = 0; i < instances; ++i) {
    lanes_.push_back({LaneKind::instance, name_of(i)});
  }
  if (has_store) {
    lanes_.push_back({LaneKind::store, std::move(store_label)});
  }
  lanes_.push_back({LaneKind::database, std::move(database_label)});
}

std::unique_ptr<Checker> Recorder::ear() { return std::make_unique<Ear>(*this); }

void Recorder::hear(const Fact& fact) {
  std::visit([this](const auto& f) { on(f); }, fact);
}

// ---- spans and marks ---------------------------------------------------------------------------

std::size_t Recorder::open(SpanKind kind, std::size_t lane, std::optional<std::size_t> who,
                           std::string text) {
  spans_.push_back(
      {kind, lane, at(world_.now()), Duration::max(), who, Fence::none, std::move(text)});
  return spans_.size() - 1;
}

void Recorder::close_key(const std::string& key) {
  const auto found = open_.find(key);
  if (found != open_.end()) {
    close(found->second, world_.now());
    open_.erase(found);
  }
}

void Recorder::mark(MarkKind kind, std::size_t lane, std::optional<std::size_t> who,
                    std::string text) {
  marks_.push_back({kind, lane, at(world_.now()), who, std::move(text)});
}

void Recorder::works(NodeId node, bool on) {
  close_key(key_of("works", node));
  if (on) {
    open_[key_of("works", node)] = open(SpanKind::works, node, node, "works on an order");
  }
}

void Recorder::started(NodeId node) {
  close_key(key_of("down", node));
  mark(MarkKind::started, node, node, name_of(node) + " starts again, and knows nothing");
}

void Recorder::message_lost(Place from, Place to) {
  const auto words = [](Place place) {
    if (place == Place::store) {
      return std::string{"the store"};
    }
    if (place == Place::sentinels) {
      return std::string{"the sentinels"};
    }
    if (place == Place::database) {
      return std::string{"the database"};
    }
    return is_node(place) ? name_of(static_cast<std::size_t>(place)) : std::string{"a server"};
  };
  const bool from_node = is_node(from);
  if (!from_node && !is_node(to)) {
    return;  // among servers
  }
  const auto node = static_cast<std::size_t>(from_node ? from : to);
  mark(MarkKind::message_lost, node, node,
       "a message from " + words(from) + " to " + words(to) + " is lost");
}

// ---- facts of a node ---------------------------------------------------------------------------

void Recorder::on(const Asked& f) { nodes_[f.owner] = f.node; }

void Recorder::on(const Wanted& f) {
  open_[key_of("waits", f.attempt)] =
      open(SpanKind::waits, f.node, f.node, name_of(f.node) + " waits for the lock");
}

void Recorder::on(const Refused& f) {
  close_key(key_of("waits", f.attempt));
  mark(MarkKind::gave_up, f.node, f.node,
       name_of(f.node) + " does not get the lock: " + f.code.message());
}

void Recorder::on(const Trusts& f) {
  nodes_[f.owner] = f.node;
  auto [found, is_new] = leases_.try_emplace(f.owner);
  Lease& lease = found->second;
  if (is_new) {
    close_key(key_of("waits", f.attempt));
    lease.node = f.node;
    const bool shared = f.use.mode == Mode::shared;
    lease.span = open(SpanKind::believes, f.node, f.node,
                      name_of(f.node) + (shared ? " has the lock, to read" : " has the lock"));
    spans_[lease.span].shared = shared;
    spans_[lease.span].fence = f.fence;
    mark(MarkKind::granted, f.node, f.node,
         name_of(f.node) + " has the lock" + fence_text(f.fence));
  } else if (f.until > lease.until) {
    mark(MarkKind::renewed, f.node, f.node, name_of(f.node) + " has renewed its lease");
  }
  lease.until = f.until;
  if (f.until != WorldTime::max()) {
    const auto kept = kept_until_.find(f.owner);
    windows_.push_back({f.node, at(world_.now()), at(f.until),
                        at(kept == kept_until_.end() ? f.until : kept->second)});
  }
}

void Recorder::end_lease(Lease& lease, WorldTime when) {
  if (!lease.ended) {
    lease.ended = true;
    close(lease.span, std::min(when, lease.until));
  }
}

void Recorder::on(const Ended& f) {
  const auto found = leases_.find(f.owner);
  if (found == leases_.end()) {
    return;
  }
  end_lease(found->second, world_.now());
  const std::string name = name_of(f.node);
  if (f.how == Ending::lost) {
    mark(MarkKind::lost, f.node, f.node, name + " is told: " + f.code.message());
  } else {
    mark(MarkKind::released, f.node, f.node, name + " gives the lock back");
  }
}

void Recorder::on(const Crashed& f) {
  for (auto& [owner, lease] : leases_) {
    if (lease.node == f.node) {
      end_lease(lease, world_.now());
    }
  }
  for (auto it = open_.begin(); it != open_.end();) {
    Span& span = spans_[it->second];
    if (span.lane == f.node && span.kind != SpanKind::trouble) {
      span.to = at(world_.now());
      it = open_.erase(it);
    } else {
      ++it;
    }
  }
  open_[key_of("down", f.node)] =
      open(SpanKind::down, f.node, f.node, name_of(f.node) + " is down");
  mark(MarkKind::crashed, f.node, f.node, name_of(f.node) + " crashes");
}

void Recorder::on(const Paused& f) {
  close_key(key_of("paused", f.node));
  if (f.on) {
    open_[key_of("paused", f.node)] =
        open(SpanKind::paused, f.node, f.node, name_of(f.node) + " stands still");
    mark(MarkKind::paused, f.node, f.node, name_of(f.node) + " is paused in the middle of it");
  } else {
    mark(MarkKind::resumed, f.node, f.node, name_of(f.node) + " goes on, as if no time had passed");
  }
}

void Recorder::on(const Trouble& f) {
  const std::string key = "trouble" + f.what + std::to_string(f.node);
  close_key(key);
  if (f.on) {
    open_[key] = open(SpanKind::trouble, f.node, f.node, f.what);
  }
}

// ---- facts of the store ------------------------------------------------------------------------

void Recorder::end_kept(WorldTime when) {
  for (const Kept& kept : std::exchange(kept_, {})) {
    close(kept.span, std::min(when, kept.until));
  }
}

void Recorder::end_kept_of(const OwnerId& owner, WorldTime when) {
  const auto kept = std::ranges::find(kept_, owner, &Kept::owner);
  if (kept != kept_.end()) {
    close(kept->span, std::min(when, kept->until));
    kept_.erase(kept);
  }
}

// Records end by themselves, without a fact: found out when the next thing happens there.
void Recorder::expire_kept() {
  for (const Kept& kept : std::vector<Kept>{kept_}) {
    if (kept.until < world_.now()) {
      const std::size_t node = nodes_[kept.owner];
      marks_.push_back({MarkKind::expired, store_lane(), at(kept.until), node,
                        "the record of " + name_of(node) + " reaches its TTL: the lock is free"});
      end_kept_of(kept.owner, kept.until);
    }
  }
}

void Recorder::on(const StoreGranted& f) {
  expire_kept();
  const bool shared = f.use.mode == Mode::shared;
  if (!shared || std::ranges::any_of(kept_, [](const Kept& kept) { return !kept.shared; })) {
    end_kept(world_.now());
  }
  const std::size_t node = nodes_[f.owner];
  const std::size_t span =
      open(SpanKind::holds, store_lane(), node, "the store's record says " + name_of(node));
  spans_[span].fence = f.fence;
  spans_[span].shared = shared;
  kept_.push_back(Kept{f.owner, span, WorldTime::max(), shared});
  mark(f.handed_on ? MarkKind::handed_on : MarkKind::granted, store_lane(), node,
       std::string{"the store "} + (f.handed_on ? "hands the lock on to " : "gives the lock to ") +
           name_of(node) + (shared ? ", to read" : "") + fence_text(f.fence));
}

void Recorder::on(const StoreHolds& f) {
  kept_until_[f.owner] = f.until;
  for (Kept& kept : kept_) {
    if (kept.owner == f.owner) {
      kept.until = f.until;
    }
  }
}

void Recorder::on(const StoreQueued& f) {
  expire_kept();
  if (!std::exchange(queued_[f.owner], true)) {
    const std::size_t node = nodes_[f.owner];
    mark(MarkKind::queued, store_lane(), node, name_of(node) + " is put in line");
  }
}

void Recorder::on(const StoreWithdrew& f) {
  expire_kept();
  for (const OwnerId& owner : f.ended) {
    if (std::ranges::find(kept_, owner, &Kept::owner) == kept_.end()) {
      continue;
    }
    const std::string whose = name_of(nodes_[owner]);
    if (f.owner == owner) {
      mark(MarkKind::released, store_lane(), nodes_[owner],
           "the store's record of " + whose + " is deleted by its owner");
    } else {
      mark(MarkKind::robbed, store_lane(), nodes_[f.owner],
           name_of(nodes_[f.owner]) + " deletes the lock of " + whose);
    }
    end_kept_of(owner, world_.now());
  }
}

void Recorder::on(const StoreForgot& f) {
  expire_kept();
  for (const OwnerId& owner : f.owners) {
    if (std::ranges::find(kept_, owner, &Kept::owner) != kept_.end()) {
      mark(MarkKind::forgot, store_lane(), nodes_[owner],
           "the store forgets that " + name_of(nodes_[owner]) + " has the lock (" + f.why + ")");
      end_kept_of(owner, world_.now());
    }
  }
}

}  // namespace holdfast::sim
