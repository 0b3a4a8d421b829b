// The simulator's model store, in virtual time: what passes for hours costs nothing.
#include "tests/conformance/place_sim.hpp"
#include "sim/history.hpp"
#include "sim/model_server.hpp"
#include "sim/model_store.hpp"
#include "sim/network.hpp"
#include "sim/runtime.hpp"
#include "sim/world.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::conformance {

namespace {

// A node of a world as a lane: running it runs the world.
class SimLane final : public Lane {
 public:
  SimLane(sim::World& world, sim::SimClock& clock)
      : world_(world), runtime_(world, clock, Duration{0}) {}

  Instant now() const override { return runtime_.now(); }
  TimerId call_at(Instant when, UniqueFunction<void()> callback) override {
    return runtime_.call_at(when, std::move(callback));
  }
  void cancel(TimerId timer) noexcept override { runtime_.cancel(timer); }
  void post(UniqueFunction<void()> callback) override { runtime_.post(std::move(callback)); }
  void post_by(Instant latest, UniqueFunction<void()> callback) override {
    runtime_.post_by(latest, std::move(callback));
  }
  void random_bytes(std::span<std::uint8_t> bytes) override { runtime_.random_bytes(bytes); }
  void run_until(UniqueFunction<bool()> done) override {
    while (!done()) {
      if (!world_.step(sim::WorldTime::max())) {
        throw std::logic_error{"nothing more will happen in this world"};
      }
    }
  }

 private:
  sim::World& world_;
  sim::SimRuntime runtime_;
};

class SimPlace final : public Place {
 public:
  Lane& lane() override { return lane_; }
  std::unique_ptr<Store> open() override { return open_as(1); }
  std::unique_ptr<Store> open_elsewhere() override { return open_as(++last_client_); }
  bool restart() override {
    server_.restart(true, std::chrono::milliseconds{10});
    world_.run_until(world_.now() + std::chrono::milliseconds{20});
    return true;
  }
  bool reopen() override { return true; }

 private:
  // Only a client's first store is its loop's; the others do not listen.
  std::unique_ptr<Store> open_as(std::uint64_t client) {
    const bool listens = client != 1 || !std::exchange(opened_, true);
    return std::make_unique<sim::ModelStore>(
        world_, network_, servers_, history_, lane_,
        sim::ModelStoreOptions{.node = 0, .client_id = client, .listens = listens});
  }

  sim::World world_{1};
  sim::Network network_{world_, {}};
  sim::History history_{world_};
  sim::ModelServer server_{world_, network_, history_, {}};
  sim::Replicas servers_{world_, network_, history_, server_, {}};
  sim::SimClock clock_{world_, Instant{std::chrono::hours{1}}, 0};
  SimLane lane_{world_, clock_};
  std::uint64_t last_client_ = 1;
  bool opened_ = false;
};

}  // namespace

std::unique_ptr<Place> make_sim_place() { return std::make_unique<SimPlace>(); }

}  // namespace holdfast::conformance
