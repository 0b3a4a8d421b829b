#include "store/postgres/advisory_store.hpp"

#include <holdfast/error.hpp>

#include "store/postgres/advisory_queries.hpp"
#include "store/postgres/doctor.hpp"
#include "store/postgres/queries.hpp"

#include <utility>

namespace holdfast::postgres {

// ---- the thread --------------------------------------------------------------------------------

struct AdvisoryThread::Inside {
  explicit Inside(std::shared_ptr<const Settings> settings)
      : holder(EventLoop::of(thread.runtime()), std::move(settings)) {}
  LoopThread thread{};
  AdvisoryHolder holder;
  Inside* next_abandoned = nullptr;
};

AdvisoryThread::AdvisoryThread(std::shared_ptr<const Settings> settings)
    : settings_(std::move(settings)), inside_(std::make_unique<Inside>(settings_)) {}

AdvisoryThread::~AdvisoryThread() {
  if (!made_here_) {
    abandon(std::move(inside_));  // the thread is not in this forked child
    return;
  }
  inside_->thread.stop();
}

void AdvisoryThread::post(UniqueFunction<void(AdvisoryHolder&)> work) {
  inside_->thread.runtime().post(
      [inside = inside_.get(), work = std::move(work)]() mutable { work(inside->holder); });
}

// ---- the store ---------------------------------------------------------------------------------

AdvisoryStore::AdvisoryStore(Runtime& runtime, std::shared_ptr<AdvisoryThread> thread)
    : thread_(std::move(thread)) {
  outlet_->runtime = &runtime;
}

AdvisoryStore::~AdvisoryStore() { close(); }

void AdvisoryStore::close() noexcept {
  {
    const std::lock_guard lock(outlet_->mutex);
    outlet_->runtime = nullptr;
  }
  outlet_->pending.clear();
}

void AdvisoryStore::post(const std::shared_ptr<Outlet>& outlet,
                         UniqueFunction<void(Outlet&)> work) {
  const std::lock_guard lock(outlet->mutex);
  if (outlet->runtime == nullptr) {
    return;
  }
  outlet->runtime->post([weak = std::weak_ptr(outlet), work = std::move(work)]() mutable {
    const auto self = weak.lock();
    if (self && self->runtime != nullptr) {
      work(*self);
    }
  });
}

Capabilities AdvisoryStore::capabilities() const {
  return {.ttl = false, .shared = true, .values = true};
}

void AdvisoryStore::listen(UniqueFunction<void(const StoreEvent&)> listener) {
  outlet_->listener = std::move(listener);
  thread_->post([outlet = outlet_](AdvisoryHolder& holder) {
    holder.listen([outlet](const StoreEvent& event) {
      post(outlet, [event](Outlet& ours) { ours.listener(event); });
    });
  });
}

void AdvisoryStore::acquire(const Claim& claim, Queueing, UniqueFunction<void(AcquireReply)> done) {
  ask<AcquireReply>(std::move(done), [claim](AdvisoryHolder& holder, auto answer) {
    holder.acquire(claim, std::move(answer));
  });
}

void AdvisoryStore::renew(std::span<const Claim> claims,
                          UniqueFunction<void(std::vector<RenewReply>)> done) {
  ask<std::vector<RenewReply>>(
      std::move(done),
      [all = std::vector<Claim>(claims.begin(), claims.end())](
          AdvisoryHolder& holder, auto answer) { holder.renew(all, std::move(answer)); });
}

void AdvisoryStore::amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) {
  ask<AmendReply>(std::move(done), [claim](AdvisoryHolder& holder, auto answer) {
    holder.amend(claim, std::move(answer));
  });
}

void AdvisoryStore::withdraw(const Claim& claim, WithdrawOptions options,
                             UniqueFunction<void(WithdrawReply)> done) {
  ask<WithdrawReply>(std::move(done), [claim, options](AdvisoryHolder& holder, auto answer) {
    holder.withdraw(claim, options, std::move(answer));
  });
}

void AdvisoryStore::inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) {
  ask_sql<InspectReply>(inspect_holds_query(name), std::move(done), parse_inspected);
}

void AdvisoryStore::list(const std::string& prefix, const std::string& cursor,
                         UniqueFunction<void(ListReply)> done) {
  ask_sql<ListReply>(list_holds_query(prefix, cursor), std::move(done), parse_listed);
}

void AdvisoryStore::break_name(const std::string& name, BreakMode mode,
                               UniqueFunction<void(BreakReply)> done) {
  ask_sql<BreakReply>(break_hold_query(name, mode), std::move(done), parse_broken);
}

void AdvisoryStore::diagnose(UniqueFunction<void(std::vector<Finding>)> done) {
  ask<std::vector<Finding>>(
      std::move(done), [settings = &thread_->settings()](AdvisoryHolder& holder, auto answer) {
        const Instant asked = BootClock::now();
        holder.send(doctor_query(), [settings, asked,
                                     answer = std::move(answer)](Link::Answer said) mutable {
          if (const auto* failed = std::get_if<Failed>(&said)) {
            answer({of_failure(*failed)});
            return;
          }
          answer(judge_server(std::get<Table>(said), *settings, BootClock::now() - asked, false));
        });
      });
}

}  // namespace holdfast::postgres
