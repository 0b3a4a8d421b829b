#include "store/etcd/wake_watches.hpp"

#include "store/etcd/requests.hpp"

#include <utility>

namespace holdfast::etcd {

void Ears::open(Runtime& runtime, WakeWatches& watches) {
  const std::scoped_lock lock(mutex_);
  runtime_ = &runtime;
  watches_ = &watches;
}

void Ears::close(WakeWatches& watches) noexcept {
  const std::scoped_lock lock(mutex_);
  if (watches_ == &watches) {
    runtime_ = nullptr;
    watches_ = nullptr;
  }
}

void Ears::with(UniqueFunction<void(WakeWatches&)> what) {
  const std::scoped_lock lock(mutex_);
  if (runtime_ != nullptr) {
    runtime_->post([ears = shared_from_this(), meant = watches_, what = std::move(what)]() mutable {
      if (ears->watches_ == meant) {  // written on this thread only, once it is open
        what(*meant);
      }
    });
  }
}

WakeWatches::WakeWatches(Runtime& runtime, Session& session, std::shared_ptr<Ears> ears,
                         UniqueFunction<void(const StoreEvent&)> listener)
    : runtime_(runtime), session_(session), ears_(std::move(ears)), listener_(std::move(listener)) {
  ears_->open(runtime, *this);
}

WakeWatches::~WakeWatches() { ears_->close(*this); }

void WakeWatches::add(const OwnerId& owner, const std::string& folder, std::int64_t turn,
                      Instant by) {
  const auto [found, is_new] = waiting_.try_emplace(owner, Waiting{folder, turn, 0});
  if (!is_new && found->second.turn == turn) {
    return;
  }
  session_.cancel(found->second.watch);
  found->second = {folder, turn, 0};
  look_before(owner, by);
}

void WakeWatches::drop(const OwnerId& owner) noexcept {
  const auto found = waiting_.find(owner);
  if (found != waiting_.end()) {
    session_.cancel(found->second.watch);
    waiting_.erase(found);
  }
}

void WakeWatches::doubt() {
  for (const auto& [owner, waiting] : waiting_) {
    session_.cancel(waiting.watch);
  }
  waiting_.clear();  // each is added again by its next beat, which the doubt asks for
  listener_(Doubt{});
}

// A revision of the key space at which the one before us stood: whatever ends it comes later.
void WakeWatches::look_before(const OwnerId& owner, Instant by) {
  const Waiting& asked = waiting_.at(owner);
  session_.range(last_before(asked.folder, asked.turn), by,
                 [this, owner, turn = asked.turn](const grpc::Status& status,
                                                  const rpc::RangeResponse& before) {
                   const auto found = waiting_.find(owner);
                   if (found == waiting_.end() || found->second.turn != turn) {
                     return;
                   }
                   if (!status.ok() || before.kvs().empty()) {
                     hint(owner);
                     return;
                   }
                   found->second.watch = session_.watch(
                       before.kvs(0).key(), before.header().revision() + 1, [this, owner] {
                         if (waiting_.contains(owner)) {
                           look_before(owner, runtime_.now() + std::chrono::seconds{2});
                         }
                       });
                 });
}

void WakeWatches::hint(const OwnerId& owner) {
  waiting_.erase(owner);
  listener_(MaybeFree{owner});
}

}  // namespace holdfast::etcd
