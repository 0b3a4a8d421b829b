// The storage that the locks protect, twice: once behind a guard, once without. A write is one
// message; it lands when it arrives, whatever has become of its sender.
#pragma once

#include "sim/history.hpp"
#include "sim/network.hpp"

#include <holdfast/guard.hpp>

#include <functional>
#include <string>

namespace holdfast::sim {

class Database {
 public:
  Database(Network& network, History& history) : network_(network), history_(history) {}
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database() = default;

  struct Write {
    NodeId node = 0;
    std::string name{};  // of the lock
    OwnerId owner{};
    Fence fence = Fence::none;
    Fence floor = Fence::none;
  };
  // To both storages. `answered` is called when the answer is back, if it ever is, with what the
  // guard said.
  using Answered = std::function<void(bool refused)>;
  void write(const Write& write, Answered answered);

 private:
  void land(const Write& write, const Answered& answered);

  Network& network_;
  History& history_;
  MemoryGuard guard_{};
};

}  // namespace holdfast::sim
