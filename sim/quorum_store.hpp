// A client of a quorum lock over several nodes: the protocol of DESIGN §3, to be run through every
// fault of its nodes. Two rounds: lock on a quorum and read the greatest fence there; note one that
// is greater on a quorum that still is ours. No queue: who waits looks again.
#pragma once

#include "sim/history.hpp"
#include "sim/network.hpp"
#include "sim/quorum.hpp"

#include <holdfast/runtime.hpp>
#include <holdfast/store.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace holdfast::sim {

struct QuorumStoreOptions {
  NodeId node = 0;
  std::uint64_t client_id = 0;
  Duration op_timeout = std::chrono::seconds{2};
};

class QuorumStore final : public Store {
 public:
  QuorumStore(World& world, Network& network, Quorum& quorum, History& history, Runtime& runtime,
              QuorumStoreOptions options);
  ~QuorumStore() override;

  Capabilities capabilities() const override;
  void acquire(const Claim& claim, Queueing queueing,
               UniqueFunction<void(AcquireReply)> done) override;
  void renew(std::span<const Claim> claims,
             UniqueFunction<void(std::vector<RenewReply>)> done) override;
  void withdraw(const Claim& claim, WithdrawOptions options,
                UniqueFunction<void(WithdrawReply)> done) override;
  void listen(UniqueFunction<void(const StoreEvent&)> listener) override;
  void inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) override;
  void list(const std::string& prefix, const std::string& cursor,
            UniqueFunction<void(ListReply)> done) override;
  void break_name(const std::string& name, BreakMode mode,
                  UniqueFunction<void(BreakReply)> done) override;
  void diagnose(UniqueFunction<void(std::vector<Finding>)> done) override;
  void close() noexcept override;

 private:
  struct Attempt;
  struct Renewal;
  struct Withdrawal;
  using AttemptPtr = std::shared_ptr<Attempt>;

  template <class Answer>
  void call(std::size_t node, std::function<Answer(QuorumNode&)> ask,
            std::function<void(Answer)> then);
  Runtime::TimerId later(Duration delay, std::function<void()> event);
  std::size_t size() const { return quorum_.nodes().size(); }
  void record(Verb verb, const Claim& claim);
  void locked(const AttemptPtr& attempt, std::size_t node, const QuorumNode::Locked& answer);
  void raise(const AttemptPtr& attempt, std::size_t node);
  void raised(const AttemptPtr& attempt, std::size_t node, bool noted);
  void choose_fence(const AttemptPtr& attempt);
  void finish(const AttemptPtr& attempt, AcquireReply reply);
  void give_up(const AttemptPtr& attempt);
  void undo(std::size_t node, const Claim& claim, std::uint64_t number, Instant until);
  void renew_one(const std::shared_ptr<Renewal>& renewal, std::size_t which);
  void judge(const std::shared_ptr<Renewal>& renewal);
  void mark_again(std::size_t node);

  World& world_;
  Network& network_;
  Quorum& quorum_;
  History& history_;
  Runtime& runtime_;
  QuorumStoreOptions options_;
  std::set<std::size_t> marking_{};
  std::shared_ptr<QuorumStore*> self_ = std::make_shared<QuorumStore*>(this);
};

// The answer comes on our runtime, if it comes, and if we are still there.
template <class Answer>
void QuorumStore::call(std::size_t node, std::function<Answer(QuorumNode&)> ask,
                       std::function<void(Answer)> then) {
  QuorumNode& far = *quorum_.nodes()[node];
  const Place here = place_of_node(options_.node);
  network_.send(
      here, far.place(), options_.client_id,
      [this, here, &far, ask = std::move(ask), then = std::move(then), weak = std::weak_ptr{self_},
       &network = network_, &runtime = runtime_, client = options_.client_id] {
        far.receive([here, ask, then, weak, &network, &runtime, client](QuorumNode& at) {
          network.send(at.place(), here, client, [answer = ask(at), then, weak, &runtime] {
            if (!weak.expired()) {
              runtime.post([answer, then, weak] {
                if (!weak.expired()) {
                  then(answer);
                }
              });
            }
          });
        });
      });
}

}  // namespace holdfast::sim
