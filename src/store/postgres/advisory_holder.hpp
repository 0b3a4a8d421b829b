// The one session that holds all locks of a client in mode=advisory, on a thread of its own: a lock
// that a lane took must be there for the loop, and a session belongs to one thread. Its verbs run
// there; stores post them and get the answers posted back.
#pragma once

#include <holdfast/claim.hpp>
#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include "runtime/event_loop.hpp"
#include "store/postgres/link.hpp"
#include "store/postgres/settings.hpp"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace holdfast::postgres {

class AdvisoryHolder {
 public:
  AdvisoryHolder(EventLoop& loop, std::shared_ptr<const Settings> settings);
  AdvisoryHolder(const AdvisoryHolder&) = delete;
  AdvisoryHolder& operator=(const AdvisoryHolder&) = delete;
  ~AdvisoryHolder();

  // Whoever wants Doubt and MarkedBroken; called on the holder's thread.
  void listen(UniqueFunction<void(const StoreEvent&)> listener) { tell_ = std::move(listener); }

  void acquire(const Claim& claim, UniqueFunction<void(AcquireReply)> done);
  void renew(const std::vector<Claim>& claims, UniqueFunction<void(std::vector<RenewReply>)> done);
  void amend(const Claim& claim, UniqueFunction<void(AmendReply)> done);
  void withdraw(const Claim& claim, const WithdrawOptions& options,
                UniqueFunction<void(WithdrawReply)> done);
  // A statement that has nothing to do with what is held.
  void send(Query query, Link::Handler done);
  bool is_connected() const { return link_.session() != nullptr; }

 private:
  enum class State : std::uint8_t { trying, held, leaving };
  struct Hold {
    OwnerId owner{};
    Mode mode = Mode::exclusive;
    State state = State::trying;
    Fence fence = Fence::none;
    Fence floor = Fence::none;
    std::int64_t key = 0;
    Duration ttl{};
    Instant ends{};  // when nobody renewed it for so long, it is given back
    std::vector<UniqueFunction<void()>> once_tried{};
  };

  Instant deadline() const { return loop_.now() + settings_->op_timeout; }
  Hold* find(const std::string& name, const OwnerId& owner);
  void remove(const std::string& name, const OwnerId& owner);
  bool is_entombed(const OwnerId& owner);
  void answer_busy(const std::string& name, UniqueFunction<void(AcquireReply)> done);
  void answer_held(const Claim& claim, UniqueFunction<void(AcquireReply)> done);
  AcquireReply tried(const Claim& claim, Link::Answer& answer);
  void leave(const std::string& name, Hold& hold, UniqueFunction<void(WithdrawReply)> done);
  void on_session(const Session* session);
  void arm();
  void tick();
  void look_for_broken();

  EventLoop& loop_;
  std::shared_ptr<const Settings> settings_;
  Link link_;
  UniqueFunction<void(const StoreEvent&)> tell_{};
  std::unordered_map<std::string, std::vector<Hold>> holds_{};
  std::unordered_map<OwnerId, Instant> tombs_{};
  Instant next_beat_{};
  Runtime::TimerId timer_ = 0;
};

}  // namespace holdfast::postgres
