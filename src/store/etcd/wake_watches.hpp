// The watches of all waiters of one client. Each waits for the end of the contender right before it
// and for no other, so a release wakes one waiter. Only the store that listens has them; the other
// stores of the client send their waiters here.
#pragma once

#include <holdfast/claim.hpp>

#include "store/etcd/session.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace holdfast::etcd {

class WakeWatches;

// The way from every store of a client to the one that listens. Thread-safe.
class Ears : public std::enable_shared_from_this<Ears> {
 public:
  void open(Runtime& runtime, WakeWatches& watches);
  void close(WakeWatches& watches) noexcept;  // on the thread of `watches`
  // Runs `what` soon on the thread of the store that listens; not at all if none does.
  void with(UniqueFunction<void(WakeWatches&)> what);

 private:
  std::mutex mutex_{};
  Runtime* runtime_ = nullptr;
  WakeWatches* watches_ = nullptr;
};

class WakeWatches {
 public:
  WakeWatches(Runtime& runtime, Session& session, std::shared_ptr<Ears> ears,
              UniqueFunction<void(const StoreEvent&)> listener);
  WakeWatches(const WakeWatches&) = delete;
  WakeWatches& operator=(const WakeWatches&) = delete;
  ~WakeWatches();

  // `owner` waits since the revision `turn` among the keys of `folder`.
  void add(const OwnerId& owner, const std::string& folder, std::int64_t turn, Instant by);
  void drop(const OwnerId& owner) noexcept;
  void doubt();  // another endpoint is asked from now on: the watches at the old one may be dead

 private:
  struct Waiting {
    std::string folder{};
    std::int64_t turn = 0;
    std::uint64_t watch = 0;
  };

  void look_before(const OwnerId& owner, Instant by);
  void hint(const OwnerId& owner);

  Runtime& runtime_;
  Session& session_;
  std::shared_ptr<Ears> ears_;
  UniqueFunction<void(const StoreEvent&)> listener_;
  std::unordered_map<OwnerId, Waiting> waiting_{};
};

}  // namespace holdfast::etcd
