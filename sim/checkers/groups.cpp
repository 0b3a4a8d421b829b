// Several names at once: all or none. They are trusted in one instant or not at all; nobody waits
// for one of them while another is granted to the same wait; and nothing that is half-held is
// renewed. What a failed try leaves behind is the leftover checker's.
#include "sim/checkers/checkers.hpp"

#include <algorithm>
#include <set>

namespace holdfast::sim {

namespace {

class Groups final : public Checker {
 public:
  Groups() : Checker("groups") {}

  void hear(const Fact& fact, WorldTime now) override {
    const auto* trusts = std::get_if<Trusts>(&fact);
    if (half_ != 0 && now > half_since_) {
      object(now,
             "wait a" + std::to_string(half_) + " trusts some of its names and not the others");
      half_ = 0;
    }
    if (trusts != nullptr) {
      trust(*trusts, now);
    } else if (const auto* wanted = std::get_if<Wanted>(&fact)) {
      if (wanted->names > 1) {
        groups_[wanted->attempt].missing = wanted->names;
      }
    } else if (const auto* asked = std::get_if<Asked>(&fact)) {
      ask(*asked, now);
    } else if (const auto* granted = std::get_if<StoreGranted>(&fact)) {
      in_store_.insert(granted->owner);
    } else if (const auto* refused = std::get_if<Refused>(&fact)) {
      forget(refused->attempt);
    }
  }

 private:
  struct Group {
    std::size_t missing = 0;
    std::set<OwnerId> owners{};
  };

  void trust(const Trusts& trusts, WorldTime now) {
    const auto group = groups_.find(trusts.attempt);
    if (group == groups_.end() || group->second.owners.erase(trusts.owner) == 0) {
      return;
    }
    half_ = --group->second.missing == 0 ? 0 : trusts.attempt;
    half_since_ = now;
    half_held_.erase(trusts.owner);
    if (half_ == 0) {
      forget(trusts.attempt);
    }
  }

  void ask(const Asked& asked, WorldTime now) {
    if (asked.verb == Verb::withdraw) {
      given_back_.insert(asked.owner);
    } else if (asked.verb == Verb::renew && half_held_.contains(asked.owner)) {
      object(now, short_text(asked.owner) + " renewed " + asked.name + ", which is half-held");
    }
    const auto group = groups_.find(asked.attempt);
    if (group == groups_.end() || (asked.verb != Verb::queue && asked.verb != Verb::acquire)) {
      return;
    }
    half_held_.insert(asked.owner);
    group->second.owners.insert(asked.owner);
    if (asked.verb != Verb::queue) {
      return;
    }
    for (const OwnerId& other : group->second.owners) {
      if (other != asked.owner && in_store_.contains(other) && !given_back_.contains(other)) {
        object(now, short_text(asked.owner) + " waits for " + asked.name +
                        " while the same wait holds " + short_text(other));
      }
    }
  }

  void forget(AttemptId attempt) {
    const auto group = groups_.extract(attempt);
    if (!group.empty()) {
      for (const OwnerId& owner : group.mapped().owners) {
        half_held_.erase(owner);
      }
    }
  }

  std::map<AttemptId, Group> groups_{};
  std::set<OwnerId> half_held_{};
  std::set<OwnerId> in_store_{};    // granted at some time
  std::set<OwnerId> given_back_{};  // or about to be
  AttemptId half_ = 0;              // whose names are being trusted, one after the other
  WorldTime half_since_{};
};

}  // namespace

std::unique_ptr<Checker> make_group_checker() { return std::make_unique<Groups>(); }

}  // namespace holdfast::sim
