// The Store of mode=advisory: hands its verbs to the session of its client, and the answers back to
// its own runtime.
#pragma once

#include <holdfast/store.hpp>

#include "runtime/loop_thread.hpp"
#include "runtime/made_here.hpp"
#include "store/postgres/advisory_holder.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace holdfast::postgres {

// The holder and its thread, shared by all stores of a factory. Thread-safe.
class AdvisoryThread {
 public:
  explicit AdvisoryThread(std::shared_ptr<const Settings> settings);
  AdvisoryThread(const AdvisoryThread&) = delete;
  AdvisoryThread& operator=(const AdvisoryThread&) = delete;
  ~AdvisoryThread();

  void post(UniqueFunction<void(AdvisoryHolder&)> work);
  const Settings& settings() const noexcept { return *settings_; }

 private:
  struct Inside;
  std::shared_ptr<const Settings> settings_;
  MadeHere made_here_{};
  std::unique_ptr<Inside> inside_;
};

class AdvisoryStore final : public Store {
 public:
  AdvisoryStore(Runtime& runtime, std::shared_ptr<AdvisoryThread> thread);
  ~AdvisoryStore() override;

  Capabilities capabilities() const override;
  void acquire(const Claim& claim, Queueing queueing,
               UniqueFunction<void(AcquireReply)> done) override;
  void renew(std::span<const Claim> claims,
             UniqueFunction<void(std::vector<RenewReply>)> done) override;
  void amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) override;
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
  // Where answers go. Outlives the store on the other thread; the runtime is null once it is
  // closed.
  struct Outlet {
    std::mutex mutex{};
    Runtime* runtime = nullptr;
    std::unordered_map<std::uint64_t, UniqueFunction<void(void*)>> pending{};  // our thread's
    UniqueFunction<void(const StoreEvent&)> listener{};                        // our thread's
  };

  static void post(const std::shared_ptr<Outlet>& outlet, UniqueFunction<void(Outlet&)> work);

  template <class Reply, class Work>
  void ask(UniqueFunction<void(Reply)> done, Work work) {
    const std::uint64_t id = ++last_id_;
    outlet_->pending.emplace(id, [done = std::move(done)](void* reply) mutable {
      done(std::move(*static_cast<Reply*>(reply)));
    });
    thread_->post([outlet = outlet_, id, work = std::move(work)](AdvisoryHolder& holder) mutable {
      work(holder, UniqueFunction<void(Reply)>{[outlet, id](Reply reply) {
             post(outlet, [id, reply = std::make_shared<Reply>(std::move(reply))](Outlet& ours) {
               const auto found = ours.pending.find(id);
               if (found != ours.pending.end()) {
                 auto handler = std::move(found->second);
                 ours.pending.erase(found);
                 handler(reply.get());
               }
             });
           }});
    });
  }

  template <class Reply>
  void ask_sql(Query query, UniqueFunction<void(Reply)> done,
               std::optional<Reply> (*parse)(const Table&)) {
    ask<Reply>(std::move(done), [query = std::move(query), parse](
                                    AdvisoryHolder& holder,
                                    UniqueFunction<void(Reply)> answer) mutable {
      holder.send(std::move(query), [parse, answer = std::move(answer)](Link::Answer said) mutable {
        if (auto* failed = std::get_if<Failed>(&said)) {
          answer(std::move(*failed));
          return;
        }
        auto reply = parse(std::get<Table>(said));
        answer(reply ? *std::move(reply) : Reply{Failed{errc::outcome_unknown, true, ""}});
      });
    });
  }

  std::shared_ptr<AdvisoryThread> thread_;
  std::shared_ptr<Outlet> outlet_ = std::make_shared<Outlet>();
  std::uint64_t last_id_ = 0;
};

}  // namespace holdfast::postgres
