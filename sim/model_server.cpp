#include "sim/model_server.hpp"

#include <holdfast/error.hpp>

#include <algorithm>

namespace holdfast::sim {

namespace {

constexpr std::int64_t unix_us_at_start = 1'800'000'000'000'000;
constexpr Instant clock_start{std::chrono::hours{1}};
constexpr std::size_t list_limit = 100;

}  // namespace

ModelServer::ModelServer(World& world, Network& network, History& history, ServerOptions options,
                         Place place)
    : world_(world),
      network_(network),
      history_(history),
      options_(options),
      place_(place),
      clock_(world, clock_start + options.ahead, options.drift_ppm) {
  if (options_.replication_lag > Duration{0} && options_.replicas == 0) {
    replicate();
  }
}

LockTable::Reading ModelServer::reading() const {
  const Instant now = clock_.now();
  return {now, unix_us_at_start + (now - clock_start) / std::chrono::microseconds{1}};
}

// ---- connections -------------------------------------------------------------------------------

void ModelServer::connect(std::shared_ptr<Connection> connection) {
  if (!up_ || !leads_) {
    reply(connection, &ConnectionEnd::refused);
    return;
  }
  auto accept = [this, connection] {
    connection->server_life = life_;
    if (connection->listens) {
      listeners_[connection->client_id] = connection;
    }
    reply(connection, &ConnectionEnd::accepted);
  };
  if (frozen_) {
    sockets_.emplace_back(connection, std::move(accept));
  } else {
    accept();
  }
}

void ModelServer::receive(std::shared_ptr<Connection> connection, std::uint64_t id,
                          Request request) {
  if (!up_ || connection->server_life != life_) {
    reply(connection, &ConnectionEnd::reset);
  } else if (frozen_) {
    sockets_.emplace_back(connection,
                          [this, connection, id, request = std::move(request)]() mutable {
                            execute(connection, id, std::move(request));
                          });
  } else {
    execute(connection, id, std::move(request));
  }
}

void ModelServer::execute(const std::shared_ptr<Connection>& connection, std::uint64_t id,
                          Request request) {
  if (std::holds_alternative<AcquireRequest>(request) ||
      std::holds_alternative<AcquireAllRequest>(request)) {
    for (const OwnerId& owner : owners_of(request)) {
      homes_[owner] = connection->client_id;
    }
  }
  if (!enough_replicas()) {
    send_answer(
        {0, connection, id, Failed{errc::store_unavailable, false, "too few replicas"}, {}});
    return;
  }
  own_up(request);
  Answer answer = run(request, *connection);
  ++offset_;
  const bool waits = must_be_acknowledged(request, answer);
  Owed owed{offset_, connection, id, std::move(answer), owners_of(request)};
  if (!waits) {
    send_answer(std::move(owed));
    return;
  }
  const std::uint64_t number = ++last_owed_;
  owed_.emplace(number, std::move(owed));
  world_.after(options_.acks_timeout, [this, number] { give_up_on_replicas(number); });
}

void ModelServer::send_answer(Owed owed) {
  if (says_yes(owed.answer)) {
    for (const OwnerId& owner : owed.owners) {
      unconfirmed_.erase(owner);
    }
  }
  const auto connection = owed.connection;
  network_.send(place_, connection->place, connection->id,
                [connection, id = owed.id, answer = std::move(owed.answer)] {
                  if (connection->client != nullptr) {
                    connection->client->answered(id, answer);
                  }
                });
}

void ModelServer::reply(const std::shared_ptr<Connection>& connection,
                        void (ConnectionEnd::*what)()) {
  network_.send(place_, connection->place, connection->id, [connection, what] {
    if (connection->client != nullptr) {
      (connection->client->*what)();
    }
  });
}

void ModelServer::send_wake(const OwnerId& owner, const StoreEvent& event) {
  Random& random = world_.random();
  const auto home = homes_.find(owner);
  if (home == homes_.end() || !listeners_.contains(home->second) ||
      random.chance(options_.wake_lost_per_mille)) {
    return;
  }
  const auto connection = listeners_[home->second];
  const int times = random.chance(options_.wake_doubled_per_mille) ? 2 : 1;
  for (int i = 0; i < times; ++i) {
    Duration late{};
    if (random.chance(options_.wake_late_per_mille)) {
      // Up to well after a hand-off that nobody confirmed has ended.
      const auto beat = state_.beats.find(owner);
      late =
          random.between(Duration{0}, beat == state_.beats.end() ? Duration{std::chrono::seconds{1}}
                                                                 : beat->second.liveness * 3);
    }
    world_.after(late, [this, connection, event] {
      network_.send(place_, connection->place, connection->id, [connection, event] {
        if (connection->client != nullptr) {
          connection->client->told(event);
        }
      });
    });
  }
}

// ---- facts -------------------------------------------------------------------------------------

void ModelServer::look() {
  for (const NameView& name : everything().names) {
    for (const Holder& holder : name.holders) {
      if (!holder.released) {
        record(StoreHas{name.name, holder.owner, false, holder.value});
      }
    }
    for (const Waiter& waiter : name.waiters) {
      record(StoreHas{name.name, waiter.owner, true});
    }
  }
}

ModelServer::Sight ModelServer::everything() const {
  return {clock_.now(), state_.table.list("", "", list_limit, reading()).names};
}

std::vector<OwnerId> ModelServer::gone_since(const std::vector<NameView>& before) const {
  std::vector<OwnerId> gone;
  const std::vector<NameView> after = everything().names;
  for (const NameView& had : before) {
    const auto has = std::ranges::find(after, had.name, &NameView::name);
    for (const Holder& holder : had.holders) {
      if (has == after.end() || !std::ranges::count(has->holders, holder.owner, &Holder::owner)) {
        gone.push_back(holder.owner);
      }
    }
  }
  return gone;
}

void ModelServer::record_loss(std::string why, const Sight& before, bool replaced, bool shortened) {
  StoreForgot forgot{std::move(why), {}, false, replaced, true, {}, before.at};
  const std::vector<NameView> after = everything().names;
  for (const NameView& had : before.names) {
    const auto has = std::ranges::find(after, had.name, &NameView::name);
    for (const Holder& holder : had.holders) {
      const bool kept =
          has != after.end() && std::ranges::any_of(has->holders, [&](const Holder& still) {
            return still.owner == holder.owner && still.ttl_left >= holder.ttl_left;
          });
      if (!kept) {
        forgot.owners.push_back(holder.owner);
      }
    }
  }
  forgot.gone = gone_since(before.names);
  for (const NameView& had : before.names) {
    for (const Waiter& waiter : had.waiters) {
      if (shortened) {  // their beats too: what is handed to them ends sooner than they count on
        forgot.owners.push_back(waiter.owner);
      }
    }
  }
  for (const NameView& name : after) {
    for (const Waiter& waiter : name.waiters) {
      forgot.queues.push_back(state_.beats.at(waiter.owner));
    }
  }
  record(forgot);
  last_ends_.clear();
  for (const NameView& name : after) {
    record_ends(name);
  }
}

// ---- what happens to servers -------------------------------------------------------------------

void ModelServer::replicate() {
  world_.after(options_.replication_lag, [this, copy = std::make_shared<const State>(state_)] {
    replica_ = copy;
    replicate();
  });
}

void ModelServer::freeze() { frozen_ = true; }

void ModelServer::thaw() {
  frozen_ = false;
  // Each socket keeps its order; which socket is read first is chance.
  std::map<std::uint64_t, std::vector<UniqueFunction<void()>>> by_chance;
  std::map<std::uint64_t, std::uint64_t> turns;
  for (auto& [connection, execute_now] : std::exchange(sockets_, {})) {
    const std::uint64_t turn =
        turns.try_emplace(connection->id, world_.random().bits()).first->second;
    by_chance[turn].push_back(std::move(execute_now));
  }
  for (auto& [turn, waiting] : by_chance) {
    for (UniqueFunction<void()>& execute_now : waiting) {
      execute_now();
    }
  }
}

void ModelServer::go_down(Duration down) {
  owed_.clear();
  up_ = false;
  frozen_ = false;
  sockets_.clear();
  ++life_;
  for (const auto& [client, connection] : std::exchange(listeners_, {})) {
    reply(connection, &ConnectionEnd::reset);
  }
  world_.after(down, [this, life = life_] { up_ = up_ || life == life_; });
}

void ModelServer::restart(bool keep_memory, Duration down) {
  go_down(down);
  if (!keep_memory) {
    const auto before = everything();
    state_ = {};
    forgotten_ = greatest_;
    record_loss("restart without memory", before, true, true);
  }
}

void ModelServer::fail_over(Duration down, Duration skew) {
  go_down(down);
  const auto before = everything();
  state_ = *replica_;
  forgotten_ = greatest_;
  clock_.jump(skew);
  record_loss("failover", before, true, true);
}

void ModelServer::jump_clock(Duration by) {
  const auto before = everything();
  clock_.jump(by);
  record_loss("clock jump", before, false, by > Duration{0});
}

void ModelServer::operator_breaks(const std::string& name, BreakMode mode) {
  run(BreakRequest{name, mode}, reading());
}

void ModelServer::heal() {
  options_.wake_lost_per_mille = 0;
  options_.wake_late_per_mille = 0;
  options_.wake_doubled_per_mille = 0;
  up_ = true;
  if (frozen_) {
    thaw();
  }
}

}  // namespace holdfast::sim
