#include "store/postgres/postgres_store.hpp"

#include <holdfast/error.hpp>

#include "base/gathered_renewal.hpp"
#include "store/postgres/doctor.hpp"
#include "store/postgres/queries.hpp"

#include <algorithm>

namespace holdfast::postgres {

namespace {

// How often a waiter looks that nobody can wake.
constexpr Duration unheard_recheck = std::chrono::milliseconds{500};

}  // namespace

PostgresStore::PostgresStore(EventLoop& loop, std::shared_ptr<const Settings> settings)
    : loop_(loop),
      settings_(std::move(settings)),
      link_(loop, settings_->server, settings_->op_timeout) {}

Capabilities PostgresStore::capabilities() const {
  return {.queue = true,
          .wake_ups = true,
          .ttl = true,
          .shared = true,
          .permits = true,
          .at_once = true,
          .runs = true,
          .values = true};
}

void PostgresStore::listen(UniqueFunction<void(const StoreEvent&)> listener) {
  listener_ = std::move(listener);
  wakes_ = std::make_unique<WakeListener>(loop_, settings_,
                                          [this](const StoreEvent& event) { listener_(event); });
  link_.keep_connected([this] { listener_(Doubt{}); });
}

void PostgresStore::close() noexcept {
  link_.close();
  if (wakes_) {
    wakes_->close();
  }
}

// ---- acquire -----------------------------------------------------------------------------------

void PostgresStore::acquire(const Claim& claim, Queueing queueing,
                            UniqueFunction<void(AcquireReply)> done) {
  const Instant by = deadline();
  Query query = acquire_query(claim, queueing == Queueing::yes, settings_->client_id);
  if (queueing == Queueing::no || !wakes_) {
    ask<AcquireReply>(std::move(query), by, std::move(done), parse_acquired);
    return;
  }
  // Half of the time at most goes into being reachable; the rest is the request's.
  wakes_->when_settled(by - settings_->op_timeout / 2, [this, by, query = std::move(query),
                                                        done = std::move(done)]() mutable {
    UniqueFunction<void(AcquireReply)> told = [this,
                                               done = std::move(done)](AcquireReply reply) mutable {
      if (auto* queued = std::get_if<Queued>(&reply); queued != nullptr && wakes_->is_deaf()) {
        queued->recheck_in = std::min(queued->recheck_in, unheard_recheck);
      }
      done(std::move(reply));
    };
    ask<AcquireReply>(std::move(query), by, std::move(told), parse_acquired);
  });
}

void PostgresStore::acquire_all(std::span<const Claim> claims,
                                UniqueFunction<void(AcquireAllReply)> done) {
  if (claims.empty()) {
    loop_.post([done = std::move(done)]() mutable { done(AllGranted{}); });
    return;
  }
  std::vector<std::string> names;
  for (const Claim& claim : claims) {
    names.push_back(claim.name);
  }
  ask<AcquireAllReply>(
      acquire_all_query(claims, settings_->client_id), deadline(), std::move(done),
      [names = std::move(names)](const Table& table) { return parse_all_acquired(table, names); });
}

// ---- renew -------------------------------------------------------------------------------------

void PostgresStore::renew(std::span<const Claim> claims,
                          UniqueFunction<void(std::vector<RenewReply>)> done) {
  if (wakes_) {
    wakes_->start();  // so that a broken name is heard of before the next renewal
  }
  if (claims.empty()) {
    loop_.post([done = std::move(done)]() mutable { done({}); });
    return;
  }
  renew_in_batches(claims, renew_batch, std::move(done),
                   [this](std::span<const Claim> batch, GatheredRenewal::Handler collect) {
                     ask<GatheredRenewal::Batch>(renew_query(batch), deadline(), std::move(collect),
                                                 [count = batch.size()](const Table& table) {
                                                   return parse_renewed(table, count);
                                                 });
                   });
}

// ---- the others --------------------------------------------------------------------------------

void PostgresStore::amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) {
  ask<AmendReply>(amend_query(claim), deadline(), std::move(done), parse_amended);
}

void PostgresStore::withdraw(const Claim& claim, WithdrawOptions options,
                             UniqueFunction<void(WithdrawReply)> done) {
  ask<WithdrawReply>(withdraw_query(claim, options), deadline(), std::move(done), parse_withdrawn);
}

void PostgresStore::inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) {
  ask<InspectReply>(inspect_query(name), deadline(), std::move(done), parse_inspected);
}

void PostgresStore::list(const std::string& prefix, const std::string& cursor,
                         UniqueFunction<void(ListReply)> done) {
  ask<ListReply>(list_query(prefix, cursor), deadline(), std::move(done), parse_listed);
}

void PostgresStore::break_name(const std::string& name, BreakMode mode,
                               UniqueFunction<void(BreakReply)> done) {
  ask<BreakReply>(break_query(name, mode), deadline(), std::move(done), parse_broken);
}

void PostgresStore::diagnose(UniqueFunction<void(std::vector<Finding>)> done) {
  const Instant asked = loop_.now();
  link_.send(doctor_query(), deadline(),
             [this, asked, done = std::move(done)](Link::Answer answer) mutable {
               if (const auto* failed = std::get_if<Failed>(&answer)) {
                 done({of_failure(*failed)});
                 return;
               }
               done(judge_server(std::get<Table>(answer), *settings_, loop_.now() - asked,
                                 link_.session() != nullptr && link_.session()->is_pooled()));
             });
}

}  // namespace holdfast::postgres
