#include "tests/chaos/faulty_store.hpp"

#include <holdfast/error.hpp>

#include <map>
#include <string>
#include <utility>

namespace holdfast::chaos {

namespace {

constexpr Duration op_timeout = std::chrono::seconds{2};

class FaultyStore final : public Store, private Network::Connection {
 public:
  FaultyStore(Runtime& runtime, std::unique_ptr<Store> inner, std::shared_ptr<Network> network)
      : runtime_(runtime), inner_(std::move(inner)), network_(std::move(network)) {
    network_->add(this);
  }
  ~FaultyStore() override {
    network_->remove(this);
    close();
  }
  FaultyStore(const FaultyStore&) = delete;
  FaultyStore& operator=(const FaultyStore&) = delete;

  Capabilities capabilities() const override { return inner_->capabilities(); }

  void acquire(const Claim& claim, Queueing queueing,
               UniqueFunction<void(AcquireReply)> done) override {
    send<AcquireReply>(std::move(done),
                       [&](auto answer) { inner_->acquire(claim, queueing, std::move(answer)); });
  }

  void acquire_all(std::span<const Claim> claims,
                   UniqueFunction<void(AcquireAllReply)> done) override {
    send<AcquireAllReply>(std::move(done),
                          [&](auto answer) { inner_->acquire_all(claims, std::move(answer)); });
  }

  void amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) override {
    send<AmendReply>(std::move(done),
                     [&](auto answer) { inner_->amend(claim, std::move(answer)); });
  }

  void renew(std::span<const Claim> claims,
             UniqueFunction<void(std::vector<RenewReply>)> done) override {
    send<std::vector<RenewReply>>(
        std::move(done), [&](auto answer) { inner_->renew(claims, std::move(answer)); },
        claims.size());
  }

  void withdraw(const Claim& claim, WithdrawOptions options,
                UniqueFunction<void(WithdrawReply)> done) override {
    send<WithdrawReply>(std::move(done),
                        [&](auto answer) { inner_->withdraw(claim, options, std::move(answer)); });
  }

  void listen(UniqueFunction<void(const StoreEvent&)> listener) override {
    listener_ = std::move(listener);
    inner_->listen([this](const StoreEvent& event) {
      if (network_->fault == Fault::pass) {
        listener_(event);
      }
    });
  }

  void inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) override {
    send<InspectReply>(std::move(done),
                       [&](auto answer) { inner_->inspect(name, std::move(answer)); });
  }

  void list(const std::string& prefix, const std::string& cursor,
            UniqueFunction<void(ListReply)> done) override {
    send<ListReply>(std::move(done),
                    [&](auto answer) { inner_->list(prefix, cursor, std::move(answer)); });
  }

  void break_name(const std::string& name, BreakMode mode,
                  UniqueFunction<void(BreakReply)> done) override {
    send<BreakReply>(std::move(done),
                     [&](auto answer) { inner_->break_name(name, mode, std::move(answer)); });
  }

  void diagnose(UniqueFunction<void(std::vector<Finding>)> done) override {
    inner_->diagnose(std::move(done));
  }

  void close() noexcept override {
    if (alive_) {
      inner_->close();
      alive_.reset();
    }
  }

 private:
  template <class Reply>
  static Reply failure(Failed failed, std::size_t count) {
    if constexpr (std::is_same_v<Reply, std::vector<RenewReply>>) {
      return Reply(count, failed);
    } else {
      static_cast<void>(count);
      return failed;
    }
  }

  template <class Reply, class Forward>
  void send(UniqueFunction<void(Reply)> done, Forward forward, std::size_t count = 1) {
    switch (network_->fault.load()) {
      case Fault::pass:
        forward([this, handler = std::move(done)](Reply reply) mutable {
          const auto delay = network_->delay.load();
          if (delay.count() == 0) {
            handler(std::move(reply));
          } else {
            answer(delay, std::move(handler), std::move(reply));
          }
        });
        break;
      case Fault::refuse:
        answer(Duration{0}, std::move(done),
               failure<Reply>({errc::store_unavailable, false, "connection refused"}, count));
        break;
      case Fault::swallow:
        forward([](const Reply&) {});
        stay_silent(std::move(done), count);
        break;
      case Fault::blackhole:
        stay_silent(std::move(done), count);
        break;
    }
  }

  template <class Reply>
  void stay_silent(UniqueFunction<void(Reply)> done, std::size_t count) {
    const std::uint64_t id = ++last_silent_;
    silent_.emplace(id, [handler = std::move(done), count](const char* why) mutable {
      handler(failure<Reply>({errc::outcome_unknown, true, why}, count));
    });
    runtime_.call_at(runtime_.now() + op_timeout, [this, id, weak = std::weak_ptr{alive_}] {
      if (weak.lock()) {
        give_up(id, "no answer from the store");
      }
    });
  }

  void give_up(std::uint64_t id, const char* why) {
    if (auto node = silent_.extract(id)) {
      node.mapped()(why);
    }
  }

  void post_reset() override {
    runtime_.post([this, weak = std::weak_ptr{alive_}] {
      if (weak.lock()) {
        while (!silent_.empty()) {
          give_up(silent_.begin()->first, "connection reset by peer");
        }
        if (listener_) {
          listener_(Doubt{});
        }
      }
    });
  }

  template <class Reply>
  void answer(Duration after, UniqueFunction<void(Reply)> done, Reply reply) {
    runtime_.call_at(runtime_.now() + after,
                     [weak = std::weak_ptr{alive_}, handler = std::move(done),
                      value = std::move(reply)]() mutable {
                       if (weak.lock()) {
                         handler(std::move(value));
                       }
                     });
  }

  Runtime& runtime_;
  std::unique_ptr<Store> inner_;
  std::shared_ptr<Network> network_;
  UniqueFunction<void(const StoreEvent&)> listener_{};
  std::map<std::uint64_t, UniqueFunction<void(const char*)>> silent_{};
  std::uint64_t last_silent_ = 0;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

class FaultyFactory final : public StoreFactory {
 public:
  FaultyFactory(std::shared_ptr<StoreFactory> inner, std::shared_ptr<Network> network)
      : inner_(std::move(inner)), network_(std::move(network)) {}

  std::unique_ptr<Store> open(Runtime& runtime) override {
    return std::make_unique<FaultyStore>(runtime, inner_->open(runtime), network_);
  }
  std::string url() const override { return inner_->url(); }

 private:
  std::shared_ptr<StoreFactory> inner_;
  std::shared_ptr<Network> network_;
};

}  // namespace

void Network::reset() {
  const std::lock_guard lock{mutex_};
  for (Connection* connection : connections_) {
    connection->post_reset();
  }
}

void Network::add(Connection* connection) {
  const std::lock_guard lock{mutex_};
  connections_.push_back(connection);
}

void Network::remove(Connection* connection) {
  const std::lock_guard lock{mutex_};
  std::erase(connections_, connection);
}

std::shared_ptr<StoreFactory> make_faulty_factory(std::shared_ptr<StoreFactory> inner,
                                                  std::shared_ptr<Network> network) {
  return std::make_shared<FaultyFactory>(std::move(inner), std::move(network));
}

}  // namespace holdfast::chaos
