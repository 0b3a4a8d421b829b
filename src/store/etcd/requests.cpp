#include "store/etcd/requests.hpp"

#include <algorithm>

namespace holdfast::etcd {

namespace {

rpc::RangeRequest sorted(const std::string& folder, rpc::RangeRequest::SortOrder order) {
  rpc::RangeRequest request;
  request.set_key(folder);
  request.set_range_end(end_of(folder));
  request.set_sort_target(rpc::RangeRequest::CREATE);
  request.set_sort_order(order);
  return request;
}

rpc::RangeRequest one(const std::string& key) {
  rpc::RangeRequest request;
  request.set_key(key);
  return request;
}

Duration since(std::int64_t then_ms, std::int64_t now_ms) {
  return std::chrono::milliseconds{std::max<std::int64_t>(0, now_ms - then_ms)};
}

bool is_of(const std::optional<Contender>& contender, const OwnerId& owner) {
  return contender && contender->record && contender->record->owner == owner;
}

}  // namespace

const Contender* ours_of(const Sight& sight, const OwnerId& owner) {
  if (is_of(sight.held, owner)) {
    return &*sight.held;
  }
  return is_of(sight.queued, owner) ? &*sight.queued : nullptr;
}

Standing standing_of(const Sight& sight, const OwnerId& owner) {
  if (sight.withdrawn) {
    return Standing::withdrawn;
  }
  const Contender* const ours = ours_of(sight, owner);
  if (ours == nullptr) {
    return Standing::absent;
  }
  if (ours->record->state == Record::State::broken) {
    return Standing::broken;
  }
  if (!sight.first || sight.first->create_revision != ours->create_revision) {
    return Standing::behind;
  }
  const bool full =
      ours->record->state == Record::State::held && ours->lease == holding_lease(owner);
  return full ? Standing::holds : Standing::first;
}

Contender contender_of(const rpc::KeyValue& entry) {
  return {entry.key(), entry.create_revision(), entry.mod_revision(), entry.lease(),
          Record::parse(entry.value())};
}

std::optional<Contender> first_of(const rpc::ResponseOp& response) {
  const auto& entries = response.response_range().kvs();
  return entries.empty() ? std::nullopt : std::optional{contender_of(entries.Get(0))};
}

Holder holder_of(const Contender& contender, std::int64_t now_ms) {
  Holder holder;
  holder.fence = Fence{contender.create_revision};
  if (contender.record) {
    holder.owner = contender.record->owner;
    holder.who = contender.record->who;
    holder.value = contender.record->value;
    holder.broken = contender.record->state == Record::State::broken;
    holder.held_for = since(contender.record->since_ms, now_ms);
    holder.ttl_left = std::chrono::milliseconds{contender.record->ttl_ms};  // at most
  } else {
    holder.who.note = "another program of etcd's lock format: " + contender.key;
  }
  return holder;
}

Waiter waiter_of(const Contender& contender, std::int64_t now_ms) {
  const Holder same = holder_of(contender, now_ms);
  Waiter waiter;
  waiter.owner = same.owner;
  waiter.who = same.who;
  waiter.waiting_for = same.held_for;
  return waiter;
}

rpc::RangeRequest first_in(const std::string& folder) {
  rpc::RangeRequest request = sorted(folder, rpc::RangeRequest::ASCEND);
  request.set_limit(1);
  return request;
}

rpc::RangeRequest all_in(const std::string& folder) {
  return sorted(folder, rpc::RangeRequest::ASCEND);
}

rpc::RangeRequest last_before(const std::string& folder, std::int64_t create_revision) {
  rpc::RangeRequest request = sorted(folder, rpc::RangeRequest::DESCEND);
  request.set_limit(1);
  request.set_max_create_revision(create_revision - 1);
  return request;
}

rpc::Compare created_at(const std::string& key, std::int64_t revision) {
  rpc::Compare compare;
  compare.set_target(rpc::Compare::CREATE);
  compare.set_key(key);
  compare.set_create_revision(revision);
  return compare;
}

rpc::Compare absent(const std::string& key) { return created_at(key, 0); }

rpc::Compare all_absent(const std::string& folder) {
  rpc::Compare compare = absent(folder);
  compare.set_range_end(end_of(folder));
  return compare;
}

rpc::Compare unchanged_since(const std::string& key, std::int64_t revision) {
  rpc::Compare compare;
  compare.set_target(rpc::Compare::MOD);
  compare.set_key(key);
  compare.set_mod_revision(revision);
  return compare;
}

rpc::RequestOp put(const std::string& key, const Record& record, std::int64_t lease) {
  rpc::RequestOp operation;
  operation.mutable_request_put()->set_key(key);
  operation.mutable_request_put()->set_value(record.text());
  operation.mutable_request_put()->set_lease(lease);
  return operation;
}

rpc::RequestOp put_again(const std::string& key, const Record& record) {
  rpc::RequestOp operation = put(key, record, 0);
  operation.mutable_request_put()->set_ignore_lease(true);
  return operation;
}

rpc::RequestOp remove(const std::string& key) {
  rpc::RequestOp operation;
  operation.mutable_request_delete_range()->set_key(key);
  return operation;
}

rpc::RequestOp get(rpc::RangeRequest request) {
  rpc::RequestOp operation;
  *operation.mutable_request_range() = std::move(request);
  return operation;
}

void add_look(google::protobuf::RepeatedPtrField<rpc::RequestOp>* operations, const Keys& keys,
              const Claim& claim) {
  *operations->Add() = get(first_in(keys.folder(claim.name)));
  *operations->Add() = get(one(keys.contender(claim.name, holding_lease(claim.owner))));
  *operations->Add() = get(one(keys.contender(claim.name, waiting_lease(claim.owner))));
  *operations->Add() = get(one(keys.tombstone(claim.owner)));
}

Sight sight_of(const rpc::TxnResponse& response, int first_response) {
  return {first_of(response.responses(first_response)),
          first_of(response.responses(first_response + 1)),
          first_of(response.responses(first_response + 2)),
          first_of(response.responses(first_response + 3)).has_value()};
}

}  // namespace holdfast::etcd
