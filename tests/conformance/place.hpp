// Where the conformance suite runs: one place that stores of one kind share, fresh for each test,
// and the lane that the test runs them on.
#pragma once

#include <holdfast/store.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::conformance {

class Place {
 public:
  Place() = default;
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  virtual ~Place() = default;

  // Runs everything that is opened here. Outlives it.
  virtual Lane& lane() = 0;
  // One more store of the same client.
  virtual std::unique_ptr<Store> open() = 0;
  // A store of another client (in production: of another process) of the same place.
  virtual std::unique_ptr<Store> open_elsewhere() = 0;
  // For the suites that need threads; null where there are none (the simulator).
  virtual std::shared_ptr<StoreFactory> factory() { return nullptr; }
  virtual std::shared_ptr<StoreFactory> factory_elsewhere() { return nullptr; }

  // The server ends and comes back with what it keeps on disk. False: there is no such thing.
  virtual bool restart() { return false; }
  // All of the store's state is removed behind its back. False: there is no such thing.
  virtual bool wipe() { return false; }
  // Fences must rise even after the last store of the place was closed and its factory is gone.
  virtual bool reopen() { return false; }
};

struct Kind {
  std::string name{};
  std::function<std::unique_ptr<Place>()> make{};
  std::string why_not{};  // not empty: it cannot run here

  friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
};

// Every kind that this build knows.
const std::vector<Kind>& kinds();
// Those of them whose stores run on the real runtime.
const std::vector<Kind>& kinds_with_threads();

inline std::string kind_name(const ::testing::TestParamInfo<Kind>& info) { return info.param.name; }

}  // namespace holdfast::conformance
