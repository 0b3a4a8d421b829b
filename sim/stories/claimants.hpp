// The protocols behind the lock of an experiment: the real one, the wrong ones, and none.
#pragma once

#include "sim/locker.hpp"
#include "sim/stories/claimant.hpp"
#include "sim/stories/plain_server.hpp"
#include "sim/stories/trial.hpp"

#include <functional>
#include <memory>

namespace holdfast::sim {

// What a protocol tells about where it is, so that faults can strike there.
using Reached = std::function<void(Moment)>;

// The engine of holdfast, as it runs in production. `locker` must outlive it.
std::unique_ptr<Claimant> make_locker_claimant(const Trial& trial, Locker& locker,
                                               Mode mode = Mode::exclusive);

// WRONG, to be seen failing: SETNX and EXPIRE, or SET NX PX; polling; DEL. `server`, `runtime` and
// `recorder` must outlive it.
std::unique_ptr<Claimant> make_plain_claimant(const Trial& trial, World& world, PlainServer& server,
                                              Recorder& recorder, SimRuntime& runtime, NodeId node,
                                              Reached reached);

// No lock: everybody may always.
std::unique_ptr<Claimant> make_no_claimant(SimRuntime& runtime);

}  // namespace holdfast::sim
