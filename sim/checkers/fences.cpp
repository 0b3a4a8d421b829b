// For one name a later grant has a greater fence, and a holder has the fence of its grant. Of two
// primaries in a split brain each keeps this for itself. A store
// that lost its fence state and whose clock is not past the greatest fence cannot keep this
// (DESIGN §3): such grants are counted.
#include "sim/checkers/checkers.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

class Fences final : public Checker {
 public:
  Fences() : Checker("fences") {}

  void hear(const Fact& fact, WorldTime now) override {
    if (const auto* granted = std::get_if<StoreGranted>(&fact)) {
      grant(*granted, now);
    } else if (const auto* forgot = std::get_if<StoreForgot>(&fact)) {
      inherit();
      bool& forgotten = forgotten_[reign()];
      forgotten = forgotten || forgot->fences;
    } else if (const auto* trusts = std::get_if<Trusts>(&fact)) {
      trust(*trusts, now);
    } else if (const auto* renewed = std::get_if<StoreRenewed>(&fact)) {
      renew(*renewed, now);
    }
  }

 private:
  // A new primary goes on from where the one before it was; from then on each counts for itself.
  void inherit() {
    if (reign() > newest_) {
      last_[reign()] = last_[newest_];
      granted_[reign()] = granted_[newest_];
      newest_ = reign();
    }
  }

  // A replica that knows a holder as a waiter only may grant to it once more, perhaps after
  // somebody else: that is not the lease which the holder believes in, and renews.
  void renew(const StoreRenewed& renewed, WorldTime now) {
    const auto trusted = trusted_.find(renewed.owner);
    if (trusted != trusted_.end() && granted_[reign()][renewed.owner] != trusted->second) {
      object(now, short_text(renewed.owner) + " renewed " + renewed.name +
                      " by the fence of another grant than the one that the store has");
    }
  }

  void trust(const Trusts& trusts, WorldTime now) {
    trusted_[trusts.owner] = trusts.fence;
    const auto& fences = of_owner_[trusts.owner];
    if (std::ranges::find(fences, trusts.fence) == fences.end()) {
      object(now, short_text(trusts.owner) + " has a fence that the store did not give it");
    } else if (fences.size() > 1 && fences.back() != trusts.fence) {
      count("holders that kept the fence of a forgotten grant");
    }
  }

  void grant(const StoreGranted& granted, WorldTime now) {
    of_owner_[granted.owner].push_back(granted.fence);
    granted_[reign()][granted.owner] = granted.fence;
    Fence& last = last_[reign()][granted.name];
    bool& forgotten = forgotten_[reign()];
    if (to_int(granted.fence) <= 0) {
      object(now, "a fence of " + granted.name + " is not positive");
    }
    if (granted.fence <= last) {
      if (forgotten) {
        count("fences that did not rise after the store forgot them");
      } else {
        object(now, "fence " + std::to_string(to_int(granted.fence)) + " of " + granted.name +
                        " is not above " + std::to_string(to_int(last)));
      }
    }
    forgotten = false;
    last = std::max(last, granted.fence);
  }

  std::size_t newest_ = 0;
  std::map<std::size_t, std::map<std::string, Fence>> last_{};  // by reign
  std::map<std::size_t, std::map<OwnerId, Fence>> granted_{};   // by reign
  std::map<OwnerId, Fence> trusted_{};
  std::map<OwnerId, std::vector<Fence>> of_owner_{};
  std::map<std::size_t, bool> forgotten_{};
};

}  // namespace

std::unique_ptr<Checker> make_fence_checker() { return std::make_unique<Fences>(); }

}  // namespace holdfast::sim
