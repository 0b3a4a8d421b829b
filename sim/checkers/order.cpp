// Waiters are granted in the order in which they joined, whatever they ask for: readers, writers,
// permits. One whose run is done has left. One that did not beat for its liveness, on
// the store's clock, has lost its place: it may be passed, and nothing is handed to it. The checker
// keeps a queue of its own.
#include "sim/checkers/checkers.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

class Order final : public Checker {
 public:
  Order() : Checker("order") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* queued = std::get_if<StoreQueued>(&fact)) {
      queue(*queued);
    } else if (const auto* granted = std::get_if<StoreGranted>(&fact)) {
      grant(*granted, now);
    } else if (const auto* withdrew = std::get_if<StoreWithdrew>(&fact)) {
      leave(withdrew->name, withdrew->owner);
    } else if (const auto* dismissed = std::get_if<StoreDismissed>(&fact)) {
      leave(dismissed->name, dismissed->owner);
    } else if (const auto* forgot = std::get_if<StoreForgot>(&fact)) {
      if (forgot->queues_told) {
        std::erase_if(queues_, [this](const auto& queue) { return queue.first.first == reign(); });
        for (const StoreQueued& place : forgot->queues) {
          queues_[key(place.name)].push_back({place.owner, place.at + place.liveness});
        }
      }
    }
  }

 private:
  struct Place {
    OwnerId owner{};
    Instant alive_until{};
  };
  using Queue = std::vector<Place>;
  using Key = std::pair<std::size_t, std::string>;  // each primary has its own
  Key key(const std::string& name) const { return {reign(), name}; }

  void queue(const StoreQueued& queued) {
    Queue& waiting = queues_[key(queued.name)];
    std::erase_if(waiting, [&](const Place& place) { return place.alive_until < queued.at; });
    const auto place = std::ranges::find(waiting, queued.owner, &Place::owner);
    if (place == waiting.end()) {
      waiting.push_back({queued.owner, queued.at + queued.liveness});
    } else {
      place->alive_until = queued.at + queued.liveness;
    }
  }

  void grant(const StoreGranted& granted, WorldTime now) {
    for (const Place& place : queues_[key(granted.name)]) {
      if (place.owner == granted.owner) {
        if (granted.handed_on && place.alive_until < granted.at) {
          object(now, granted.name + " was handed to " + short_text(place.owner) +
                          ", who had lost its place");
        }
        break;
      }
      if (place.alive_until >= granted.at) {
        object(now, short_text(granted.owner) + " got " + granted.name + " before " +
                        short_text(place.owner) + ", who waited first");
        break;
      }
    }
    leave(granted.name, granted.owner);
  }

  void leave(const std::string& name, const OwnerId& owner) {
    std::erase_if(queues_[key(name)], [&](const Place& place) { return place.owner == owner; });
  }

  std::map<Key, Queue> queues_{};
};

}  // namespace

std::unique_ptr<Checker> make_order_checker() { return std::make_unique<Order>(); }

}  // namespace holdfast::sim
