// The calls of one store: which endpoint, which token, which deadline, and what becomes of their
// answers. Everything here is for the store's thread. What is pending at the end is destroyed
// uncalled.
#pragma once

#include <holdfast/runtime.hpp>
#include <holdfast/types.hpp>

#include "store/etcd/call.hpp"
#include "store/etcd/endpoints.hpp"
#include "store/etcd/rpc.grpc.pb.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

namespace holdfast::etcd {

namespace rpc = ::etcdserverpb;

// Says which way a call was refused.
bool is_missing_lease(const grpc::Status& status);
bool is_existing_lease(const grpc::Status& status);

class Session {
 public:
  template <class Response>
  using Done = UniqueFunction<void(const grpc::Status&, const Response&)>;

  Session(Runtime& runtime, std::shared_ptr<const Settings> settings,
          std::shared_ptr<Client> client, UniqueFunction<void()> moved);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { close(); }

  void range(rpc::RangeRequest request, Instant by, Done<rpc::RangeResponse> done);
  void txn(rpc::TxnRequest request, Instant by, Done<rpc::TxnResponse> done);
  // `lease` 0: etcd chooses.
  void grant(std::int64_t lease, std::int64_t seconds, Instant by,
             Done<rpc::LeaseGrantResponse> done);
  void revoke(std::int64_t lease, Instant by);  // nobody waits for its end
  void time_to_live(std::int64_t lease, Instant by, Done<rpc::LeaseTimeToLiveResponse> done);
  // A lease that does not exist has a TTL of 0.
  void keep_alive(std::int64_t lease, Instant by, Done<rpc::LeaseKeepAliveResponse> done);
  void alarms(Instant by, Done<rpc::AlarmResponse> done);
  void status(std::size_t endpoint, Instant by, Done<rpc::StatusResponse> done);

  // Says once that `key` was deleted at `revision` or later, or that nobody can tell any more.
  std::uint64_t watch(const std::string& key, std::int64_t revision, UniqueFunction<void()> done);
  void cancel(std::uint64_t watch) noexcept;  // unknown or ended: no effect

  void later(UniqueFunction<void()> done);  // soon, never from inside this call
  void close() noexcept;
  void deliver(std::uint64_t id, Tag& call);  // for Port

 private:
  struct Pending {
    UniqueFunction<void(Tag&)> done{};
    std::shared_ptr<Call> stream{};  // what close() cancels
  };
  template <class Stub, class Request, class Response>
  struct Question;
  template <class Stub, class Request, class Response>
  void ask(std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*method)(
               grpc::ClientContext*, const Request&, grpc::CompletionQueue*),
           Request request, Instant by, Done<Response> done);
  template <class Asked>
  void begin(std::shared_ptr<Asked> question);
  template <class Asked>
  void send(std::shared_ptr<Asked> question);
  template <class Asked, class TheCall>
  void answered(const std::shared_ptr<Asked>& question, TheCall& call);
  void with_token(Instant by, UniqueFunction<void(const grpc::Status&)> done);
  void prepare(grpc::ClientContext& context, Instant by) const;
  void judge(const grpc::Status& status, std::size_t endpoint);

  Runtime& runtime_;
  std::shared_ptr<const Settings> settings_;
  std::shared_ptr<Client> client_;
  UniqueFunction<void()> moved_;
  Endpoints endpoints_;
  std::string token_{};
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, Pending> pending_{};
  std::shared_ptr<Port> port_;
};

}  // namespace holdfast::etcd
