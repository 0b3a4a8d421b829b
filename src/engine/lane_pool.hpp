// Lanes for blocking calls: each a runtime that the calling thread runs, with a store of its own.
#pragma once

#include <holdfast/runtime.hpp>
#include <holdfast/store.hpp>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace holdfast::detail {

class LaneStore {
 public:
  LaneStore(std::unique_ptr<Lane> runtime, StoreFactory& stores)
      : runtime_(std::move(runtime)), store_(stores.open(*runtime_)) {}

  Lane& runtime() noexcept { return *runtime_; }
  Store& store() noexcept { return *store_; }

 private:
  std::unique_ptr<Lane> runtime_;
  std::unique_ptr<Store> store_;  // belongs to the runtime, so it goes first
};

// Thread-safe. As many lanes as calls at once; a few are kept for the next calls.
class LanePool {
 public:
  LanePool(StoreFactory& stores, Host& host) : stores_(stores), host_(host) {}

  class GiveBack {
   public:
    explicit GiveBack(LanePool* pool) noexcept : pool_(pool) {}
    void operator()(LaneStore* lane) const noexcept;

   private:
    LanePool* pool_;
  };
  using Borrowed = std::unique_ptr<LaneStore, GiveBack>;

  Borrowed borrow();
  void close() noexcept;  // lanes that come back later are destroyed
  void abandon_after_fork() noexcept;

 private:
  static constexpr std::size_t kept_max = 16;

  StoreFactory& stores_;
  Host& host_;
  std::mutex mutex_{};
  std::vector<std::unique_ptr<LaneStore>> idle_{};
  bool closed_ = false;
};

}  // namespace holdfast::detail
