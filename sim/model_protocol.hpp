// What travels between a model store's two sides: the verbs of Store as values, on connections that
// can break.
#pragma once

#include "sim/fact.hpp"
#include "sim/network.hpp"

#include <holdfast/claim.hpp>
#include <holdfast/store.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace holdfast::sim {

struct AcquireRequest {
  Claim claim{};
  Store::Queueing queueing = Store::Queueing::no;
};
struct AcquireAllRequest {
  std::vector<Claim> claims{};
};
struct RenewRequest {
  std::vector<Claim> claims{};
};
struct AmendRequest {
  Claim claim{};
};
struct WithdrawRequest {
  Claim claim{};
  WithdrawOptions options{};
};
struct BreakRequest {
  std::string name{};
  BreakMode mode = BreakMode::ask_holder;
};
struct InspectRequest {
  std::string name{};
};
struct ListRequest {
  std::string prefix{};
  std::string cursor{};
};
using Request = std::variant<AcquireRequest, AcquireAllRequest, RenewRequest, AmendRequest,
                             WithdrawRequest, BreakRequest, InspectRequest, ListRequest>;
using Answer = std::variant<Failed, AcquireReply, AcquireAllReply, std::vector<RenewReply>,
                            AmendReply, WithdrawReply, BreakReply, InspectReply, ListReply>;

// Of the claims in it; none for what only looks, and for an operator's break.
std::vector<OwnerId> owners_of(const Request& request);
// Workloads write the number of the wait into the note of the claim.
AttemptId attempt_of(const Claim& claim);
// Somebody was granted something, or renewed it.
bool says_yes(const Answer& answer);

// The node's end of a connection. Called by the network, whatever the node is doing just then.
class ConnectionEnd {
 public:
  ConnectionEnd() = default;
  ConnectionEnd(const ConnectionEnd&) = delete;
  ConnectionEnd& operator=(const ConnectionEnd&) = delete;
  virtual ~ConnectionEnd() = default;

  virtual void accepted() = 0;
  virtual void refused() = 0;  // nobody listens there
  virtual void reset() = 0;    // the other side is gone
  virtual void answered(std::uint64_t request, Answer answer) = 0;
  virtual void told(StoreEvent event) = 0;
};

// Both sides and all messages under way share it.
struct Connection {
  ConnectionEnd* client = nullptr;  // null: the client's side is closed
  Place place = Place::store;       // where the client is
  std::uint64_t id = 0;             // no two are equal
  std::uint64_t client_id = 0;      // all stores of one factory
  bool listens = false;             // wants what the store tells by itself
  std::uint64_t server_life = 0;    // which life of the server accepted it; 0: none yet
  Instant client_clock{};           // at the latest request; only a seeded bug looks at it
};

}  // namespace holdfast::sim
