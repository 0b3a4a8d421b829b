#include "sim/model_store.hpp"

#include <holdfast/error.hpp>

namespace holdfast::sim {

namespace {

constexpr Duration reconnect_min = std::chrono::milliseconds{10};
constexpr Duration reconnect_max = std::chrono::milliseconds{200};

template <class Reply>
UniqueFunction<void(Answer)> expecting(UniqueFunction<void(Reply)> done) {
  return [done = std::move(done)](Answer answer) mutable {
    if (auto* failed = std::get_if<Failed>(&answer)) {
      done(Reply{std::move(*failed)});
    } else {
      done(std::get<Reply>(std::move(answer)));
    }
  };
}

Answer unavailable() {
  return Failed{make_error_code(errc::store_unavailable), false, "no connection"};
}
Answer unknown() {
  return Failed{make_error_code(errc::outcome_unknown), true, "the connection broke"};
}

}  // namespace

ModelStore::ModelStore(World& world, Network& network, Replicas& servers, History& history,
                       Runtime& runtime, ModelStoreOptions options)
    : world_(world),
      network_(network),
      servers_(servers),
      server_(&servers.primary()),
      history_(history),
      runtime_(runtime),
      options_(options) {
  servers_.add(*this);
}

ModelStore::~ModelStore() {
  close();
  servers_.remove(*this);
}

Capabilities ModelStore::capabilities() const {
  return {.queue = true,
          .wake_ups = true,
          .ttl = true,
          .shared = true,
          .permits = true,
          .at_once = true,
          .runs = true,
          .values = true};
}

// ---- verbs -------------------------------------------------------------------------------------

void ModelStore::record(Verb verb, const Claim& claim) {
  history_.record(Asked{options_.node, verb, claim.name, claim.owner, attempt_of(claim),
                        claim.ttl + claim.lock_delay, claim.value});
}

void ModelStore::acquire(const Claim& claim, Queueing queueing,
                         UniqueFunction<void(AcquireReply)> done) {
  record(queueing == Queueing::yes ? Verb::queue : Verb::acquire, claim);
  start(AcquireRequest{claim, queueing}, expecting(std::move(done)));
}

void ModelStore::acquire_all(std::span<const Claim> claims,
                             UniqueFunction<void(AcquireAllReply)> done) {
  for (const Claim& claim : claims) {
    record(Verb::acquire, claim);
  }
  start(AcquireAllRequest{{claims.begin(), claims.end()}}, expecting(std::move(done)));
}

void ModelStore::renew(std::span<const Claim> claims,
                       UniqueFunction<void(std::vector<RenewReply>)> done) {
  for (const Claim& claim : claims) {
    record(Verb::renew, claim);
  }
  start(RenewRequest{{claims.begin(), claims.end()}},
        [done = std::move(done), count = claims.size()](Answer answer) mutable {
          if (const auto* failed = std::get_if<Failed>(&answer)) {
            done(std::vector<RenewReply>(count, *failed));
          } else {
            done(std::get<std::vector<RenewReply>>(std::move(answer)));
          }
        });
}

void ModelStore::amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) {
  record(Verb::amend, claim);
  start(AmendRequest{claim}, expecting(std::move(done)));
}

void ModelStore::withdraw(const Claim& claim, WithdrawOptions options,
                          UniqueFunction<void(WithdrawReply)> done) {
  record(Verb::withdraw, claim);
  start(WithdrawRequest{claim, options}, expecting(std::move(done)));
}

void ModelStore::listen(UniqueFunction<void(const StoreEvent&)> listener) {
  listener_ = std::move(listener);
}

void ModelStore::inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) {
  start(InspectRequest{name}, expecting(std::move(done)));
}

void ModelStore::list(const std::string& prefix, const std::string& cursor,
                      UniqueFunction<void(ListReply)> done) {
  start(ListRequest{prefix, cursor}, expecting(std::move(done)));
}

void ModelStore::break_name(const std::string& name, BreakMode mode,
                            UniqueFunction<void(BreakReply)> done) {
  start(BreakRequest{name, mode}, expecting(std::move(done)));
}

void ModelStore::diagnose(UniqueFunction<void(std::vector<Finding>)> done) {
  runtime_.post([done = std::move(done)]() mutable {
    done({{Finding::Level::note, "a model store: nothing here is real", {}}});
  });
}

void ModelStore::close() noexcept {
  state_ = State::closed;
  if (connection_) {
    connection_->client = nullptr;
  }
  for (const auto& [id, pending] : pending_) {
    runtime_.cancel(pending.timer);
  }
  pending_.clear();
  runtime_.cancel(connect_timer_);
}

// ---- requests ----------------------------------------------------------------------------------

void ModelStore::start(Request request, UniqueFunction<void(Answer)> done) {
  if (state_ == State::closed) {
    return;  // nothing may follow close()
  }
  const std::uint64_t id = ++last_id_;
  Pending& pending = pending_[id];
  pending.request = std::move(request);
  pending.done = std::move(done);
  pending.timer =
      runtime_.call_at(runtime_.now() + options_.op_timeout, [this, id] { timed_out(id); });
  if (state_ == State::connected) {
    transmit(id, pending);
  } else if (state_ == State::idle) {
    connect();
  }
}

void ModelStore::transmit(std::uint64_t id, Pending& pending) {
  pending.sent = true;
  connection_->client_clock = runtime_.now();
  network_.send(
      place_of_node(options_.node), server_->place(), connection_->id,
      [&server = *server_, connection = connection_, id, request = std::move(pending.request)] {
        server.receive(connection, id, request);
      });
}

void ModelStore::timed_out(std::uint64_t id) {
  const auto pending = pending_.find(id);
  if (pending == pending_.end()) {
    return;
  }
  if (pending->second.sent) {
    break_connection();  // an answer that comes now could be taken for another's
  } else {
    finish(id, unavailable());
  }
}

void ModelStore::finish(std::uint64_t id, Answer answer) {
  const auto pending = pending_.find(id);
  if (pending == pending_.end()) {
    return;  // the second of a doubled message
  }
  runtime_.cancel(pending->second.timer);
  UniqueFunction<void(Answer)> done = std::move(pending->second.done);
  pending_.erase(pending);
  done(std::move(answer));
}

// ---- the connection ----------------------------------------------------------------------------

void ModelStore::connect() {
  state_ = State::connecting;
  connection_ = std::make_shared<Connection>();
  connection_->client = this;
  server_ = &servers_.named_for(options_.node);
  connection_->id = servers_.next_connection_id();
  connection_->place = place_of_node(options_.node);
  connection_->client_id = options_.client_id;
  connection_->listens = options_.listens;
  network_.send(connection_->place, server_->place(), connection_->id,
                [&server = *server_, connection = connection_] { server.connect(connection); });
  connect_timer_ =
      runtime_.call_at(runtime_.now() + options_.op_timeout, [this] { break_connection(); });
}

void ModelStore::connect_later() {
  const Duration delay = world_.random().between(reconnect_min, reconnect_max);
  connect_timer_ = runtime_.call_at(runtime_.now() + delay, [this] { connect(); });
}

void ModelStore::primary_switched() {
  runtime_.post([this] {
    const bool linked = state_ == State::connecting || state_ == State::connected;
    if (linked && &servers_.named_for(options_.node) != server_) {
      break_connection(true);
    }
  });
}

void ModelStore::break_connection(bool at_once) {
  runtime_.cancel(connect_timer_);
  connection_->client = nullptr;
  state_ = State::connecting;
  if (at_once) {
    connect();
  } else {
    connect_later();
  }
  std::vector<std::uint64_t> unanswered;
  for (const auto& [id, pending] : pending_) {
    if (pending.sent) {
      unanswered.push_back(id);
    }
  }
  for (const std::uint64_t id : unanswered) {
    history_.count("outcomes unknown");
    finish(id, unknown());
  }
}

void ModelStore::on_node(UniqueFunction<void()> event) {
  runtime_.post([connection = connection_, event = std::move(event)]() mutable {
    if (connection->client != nullptr) {
      event();
    }
  });
}

void ModelStore::accepted() {
  on_node([this] {
    if (state_ != State::connecting) {
      return;
    }
    runtime_.cancel(connect_timer_);
    state_ = State::connected;
    for (auto& [id, pending] : pending_) {
      if (!pending.sent) {
        transmit(id, pending);
      }
    }
    if (std::exchange(was_connected_, true) && listener_) {
      history_.record(Doubts{options_.node});
      listener_(Doubt{});
    }
  });
}

void ModelStore::refused() {
  on_node([this] {
    std::vector<std::uint64_t> waiting;
    for (const auto& [id, pending] : pending_) {
      waiting.push_back(id);
    }
    break_connection();
    for (const std::uint64_t id : waiting) {
      finish(id, unavailable());
    }
  });
}

void ModelStore::reset() {
  on_node([this] { break_connection(); });
}

void ModelStore::answered(std::uint64_t request, Answer answer) {
  on_node([this, request, answer = std::move(answer)]() mutable {
    finish(request, std::move(answer));
  });
}

void ModelStore::told(StoreEvent event) {
  on_node([this, event = std::move(event)] {
    if (listener_) {
      listener_(event);
    }
  });
}

}  // namespace holdfast::sim
