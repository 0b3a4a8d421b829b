// Parts of transactions, and what their answers say of a name. Pure.
#pragma once

#include <holdfast/claim.hpp>

#include "store/etcd/keys.hpp"
#include "store/etcd/record.hpp"
#include "store/etcd/rpc.pb.h"

#include <optional>
#include <span>
#include <string>

namespace holdfast::etcd {

namespace rpc = ::etcdserverpb;

// One contender's key as etcd has it.
struct Contender {
  std::string key{};
  std::int64_t create_revision = 0;  // its turn, and its fence
  std::int64_t mod_revision = 0;
  std::int64_t lease = 0;
  std::optional<Record> record{};  // none: another program's
};

// What one look at a name tells an owner about itself.
struct Sight {
  std::optional<Contender> first{};   // whose turn it is
  std::optional<Contender> held{};    // ours: the key made for holding
  std::optional<Contender> queued{};  // ours: the key made for waiting
  bool withdrawn = false;             // a tombstone stands
};

enum class Standing : std::uint8_t {
  withdrawn,  // never to be granted
  holds,      // it is our turn and our key is bound to the lease that we renew
  first,      // it is our turn, but the key still ends with the lease of a waiter
  behind,     // we wait
  broken,     // an operator wants it
  absent,     // nothing of ours is there
};
// What `owner` is. A grant needs all of it: our turn, our own key, our own lease.
Standing standing_of(const Sight& sight, const OwnerId& owner);
// Our own key in it: that which holds before that which waits.
const Contender* ours_of(const Sight& sight, const OwnerId& owner);

Contender contender_of(const rpc::KeyValue& entry);
std::optional<Contender> first_of(const rpc::ResponseOp& response);
Holder holder_of(const Contender& contender, std::int64_t now_ms);
Waiter waiter_of(const Contender& contender, std::int64_t now_ms);

rpc::RangeRequest first_in(const std::string& folder);
rpc::RangeRequest all_in(const std::string& folder);
rpc::RangeRequest last_before(const std::string& folder, std::int64_t create_revision);
rpc::Compare absent(const std::string& key);
rpc::Compare all_absent(const std::string& folder);
rpc::Compare created_at(const std::string& key, std::int64_t revision);
rpc::Compare unchanged_since(const std::string& key, std::int64_t revision);
rpc::RequestOp put(const std::string& key, const Record& record, std::int64_t lease);
rpc::RequestOp put_again(const std::string& key, const Record& record);  // its lease stays
rpc::RequestOp remove(const std::string& key);
rpc::RequestOp get(rpc::RangeRequest request);
// The four operations that sight_of() reads.
void add_look(google::protobuf::RepeatedPtrField<rpc::RequestOp>* operations, const Keys& keys,
              const Claim& claim);
Sight sight_of(const rpc::TxnResponse& response, int first_response);

}  // namespace holdfast::etcd
