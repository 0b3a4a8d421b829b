#include "store/etcd/session.hpp"

#include <grpc/support/time.h>

#include <algorithm>
#include <optional>

namespace holdfast::etcd {

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The token was forgotten by a restart, or is of an older set of rights.
bool is_old_token(const grpc::Status& status) {
  return contains(status.error_message(), "invalid auth token") ||
         contains(status.error_message(), "auth store is old") ||
         contains(status.error_message(), "revision in header is old");
}

gpr_timespec deadline_in(Duration left) {
  return gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC),
      gpr_time_from_nanos(std::max<Duration>(left, Duration::zero()).count(), GPR_TIMESPAN));
}

// A timer of the lane ends nothing here, so this stands in for a call.
class Nothing final : public Tag {
 public:
  void proceed(bool /*ok*/) override {}
};

}  // namespace

bool is_missing_lease(const grpc::Status& status) {
  return contains(status.error_message(), "requested lease not found");
}

bool is_existing_lease(const grpc::Status& status) {
  return contains(status.error_message(), "lease already exists");
}

void Port::deliver(std::uint64_t id, std::shared_ptr<Tag> call) {
  const std::scoped_lock lock(mutex_);
  if (runtime_ != nullptr) {
    runtime_->post([port = shared_from_this(), id, call = std::move(call)] {
      if (port->session_ != nullptr) {
        port->session_->deliver(id, *call);
      }
    });
  }
}

template <class Stub, class Request, class Response>
struct Session::Question {
  using TheStub = Stub;
  using TheResponse = Response;

  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*method)(
      grpc::ClientContext*, const Request&, grpc::CompletionQueue*);
  Request request{};
  Instant by{};
  Done<Response> done{};
  std::optional<std::size_t> endpoint{};  // that one and no other
  bool token_was_old = false;
  std::size_t unsent = 0;  // endpoints that could not be reached
};

Session::Session(Runtime& runtime, std::shared_ptr<const Settings> settings,
                 std::shared_ptr<Client> client, UniqueFunction<void()> moved)
    : runtime_(runtime),
      settings_(std::move(settings)),
      client_(std::move(client)),
      moved_(std::move(moved)),
      endpoints_(client_->endpoint_count()),
      port_(std::make_shared<Port>(runtime, *this)) {}

void Session::close() noexcept {
  port_->close();
  for (auto& [id, pending] : pending_) {
    if (pending.stream) {
      pending.stream->context.TryCancel();
    }
  }
  pending_.clear();
}

void Session::deliver(std::uint64_t id, Tag& call) {
  const auto found = pending_.find(id);
  if (found != pending_.end()) {
    auto done = std::move(found->second.done);
    pending_.erase(found);
    done(call);
  }
}

void Session::later(UniqueFunction<void()> done) {
  const std::uint64_t id = ++last_id_;
  pending_[id].done = [done = std::move(done)](Tag&) mutable { done(); };
  port_->deliver(id, std::make_shared<Nothing>());
}

void Session::prepare(grpc::ClientContext& context, Instant by) const {
  context.set_deadline(deadline_in(by - runtime_.now()));
  context.AddMetadata("hasleader", "true");  // a member cut off from the others answers nothing
  if (!token_.empty()) {
    context.AddMetadata("token", token_);
  }
}

void Session::judge(const grpc::Status& status, std::size_t endpoint) {
  const bool silent = status.error_code() == grpc::StatusCode::UNAVAILABLE ||
                      status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
  if (silent && endpoints_.failed(endpoint)) {
    moved_();
  }
}

template <class Stub, class Request, class Response>
void Session::ask(std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*method)(
                      grpc::ClientContext*, const Request&, grpc::CompletionQueue*),
                  Request request, Instant by, Done<Response> done) {
  auto question = std::make_shared<Question<Stub, Request, Response>>();
  question->method = method;
  question->request = std::move(request);
  question->by = by;
  question->done = std::move(done);
  begin(std::move(question));
}

template <class Asked>
void Session::begin(std::shared_ptr<Asked> question) {
  if (settings_->user.empty() || !token_.empty()) {
    send(std::move(question));
    return;
  }
  with_token(question->by, [this, question](const grpc::Status& status) {
    if (status.ok()) {
      send(question);
    } else {
      question->done(status, {});
    }
  });
}

template <class Asked>
void Session::send(std::shared_ptr<Asked> question) {
  using TheCall = UnaryCall<typename Asked::TheResponse>;
  const std::uint64_t id = ++last_id_;
  auto call = std::make_shared<TheCall>(*client_, port_, id);
  call->endpoint = question->endpoint.value_or(endpoints_.current());
  prepare(call->context, question->by);
  typename Asked::TheStub stub{client_->channel(call->endpoint)};
  auto reader = (stub.*(question->method))(&call->context, question->request, &client_->queue());
  pending_[id].done = [this, question = std::move(question)](Tag& tag) {
    answered(question, static_cast<TheCall&>(tag));
  };
  call->start(std::move(reader), call);
}

template <class Asked, class TheCall>
void Session::answered(const std::shared_ptr<Asked>& question, TheCall& call) {
  judge(call.status, call.endpoint);
  if (!settings_->user.empty() && is_old_token(call.status) && !question->token_was_old) {
    question->token_was_old = true;
    token_.clear();
    begin(question);
    return;
  }
  // What never left may be asked of another; what left may have been executed.
  if (contains(call.status.error_message(), "failed to connect") && !question->endpoint &&
      ++question->unsent < client_->endpoint_count()) {
    send(question);
    return;
  }
  question->done(call.status, call.response);
}

void Session::with_token(Instant by, UniqueFunction<void(const grpc::Status&)> done) {
  const std::uint64_t id = ++last_id_;
  auto call = std::make_shared<UnaryCall<rpc::AuthenticateResponse>>(*client_, port_, id);
  call->endpoint = endpoints_.current();
  prepare(call->context, by);
  rpc::AuthenticateRequest request;
  request.set_name(settings_->user);
  request.set_password(settings_->password);
  rpc::Auth::Stub stub{client_->channel(call->endpoint)};
  auto reader = stub.PrepareAsyncAuthenticate(&call->context, request, &client_->queue());
  pending_[id].done = [this, done = std::move(done)](Tag& tag) mutable {
    auto& answer = static_cast<UnaryCall<rpc::AuthenticateResponse>&>(tag);
    judge(answer.status, answer.endpoint);
    token_ = answer.response.token();
    done(answer.status);
  };
  call->start(std::move(reader), call);
}

void Session::range(rpc::RangeRequest request, Instant by, Done<rpc::RangeResponse> done) {
  ask(&rpc::KV::Stub::PrepareAsyncRange, std::move(request), by, std::move(done));
}

void Session::txn(rpc::TxnRequest request, Instant by, Done<rpc::TxnResponse> done) {
  ask(&rpc::KV::Stub::PrepareAsyncTxn, std::move(request), by, std::move(done));
}

void Session::grant(std::int64_t lease, std::int64_t seconds, Instant by,
                    Done<rpc::LeaseGrantResponse> done) {
  rpc::LeaseGrantRequest request;
  request.set_id(lease);
  request.set_ttl(seconds);
  ask(&rpc::Lease::Stub::PrepareAsyncLeaseGrant, std::move(request), by, std::move(done));
}

void Session::revoke(std::int64_t lease, Instant by) {
  rpc::LeaseRevokeRequest request;
  request.set_id(lease);
  ask(&rpc::Lease::Stub::PrepareAsyncLeaseRevoke, std::move(request), by,
      Done<rpc::LeaseRevokeResponse>{[](const grpc::Status&, const auto&) {}});
}

void Session::time_to_live(std::int64_t lease, Instant by,
                           Done<rpc::LeaseTimeToLiveResponse> done) {
  rpc::LeaseTimeToLiveRequest request;
  request.set_id(lease);
  ask(&rpc::Lease::Stub::PrepareAsyncLeaseTimeToLive, std::move(request), by, std::move(done));
}

void Session::alarms(Instant by, Done<rpc::AlarmResponse> done) {
  ask(&rpc::Maintenance::Stub::PrepareAsyncAlarm, rpc::AlarmRequest{}, by, std::move(done));
}

void Session::status(std::size_t endpoint, Instant by, Done<rpc::StatusResponse> done) {
  auto question =
      std::make_shared<Question<rpc::Maintenance::Stub, rpc::StatusRequest, rpc::StatusResponse>>();
  question->method = &rpc::Maintenance::Stub::PrepareAsyncStatus;
  question->by = by;
  question->done = std::move(done);
  question->endpoint = endpoint;
  begin(std::move(question));
}

void Session::keep_alive(std::int64_t lease, Instant by, Done<rpc::LeaseKeepAliveResponse> done) {
  using TheCall = StreamCall<rpc::LeaseKeepAliveRequest, rpc::LeaseKeepAliveResponse>;
  const std::uint64_t id = ++last_id_;
  auto call = std::make_shared<TheCall>(*client_, port_, id);
  call->endpoint = endpoints_.current();
  call->enough = [](const rpc::LeaseKeepAliveResponse&) { return true; };
  prepare(call->context, by);
  rpc::LeaseKeepAliveRequest request;
  request.set_id(lease);
  rpc::Lease::Stub stub{client_->channel(call->endpoint)};
  auto stream = stub.PrepareAsyncLeaseKeepAlive(&call->context, &client_->queue());
  pending_[id].done = [this, done = std::move(done)](Tag& tag) mutable {
    auto& answer = static_cast<TheCall&>(tag);
    if (answer.answered) {
      done(grpc::Status::OK, answer.response);
      return;
    }
    judge(answer.status, answer.endpoint);
    if (is_old_token(answer.status)) {
      token_.clear();
    }
    done(answer.status.ok() ? grpc::Status{grpc::StatusCode::UNAVAILABLE, "the stream ended"}
                            : answer.status,
         answer.response);
  };
  call->start(std::move(stream), std::move(request), call);
}

std::uint64_t Session::watch(const std::string& key, std::int64_t revision,
                             UniqueFunction<void()> done) {
  using TheCall = StreamCall<rpc::WatchRequest, rpc::WatchResponse>;
  const std::uint64_t id = ++last_id_;
  auto call = std::make_shared<TheCall>(*client_, port_, id);
  call->endpoint = endpoints_.current();
  // Cancelled: compacted, or cut off from the leader.
  call->enough = [](const rpc::WatchResponse& heard) {
    return heard.canceled() || heard.events_size() > 0;
  };
  call->context.AddMetadata("hasleader", "true");
  if (!token_.empty()) {
    call->context.AddMetadata("token", token_);
  }
  rpc::WatchRequest request;
  rpc::WatchCreateRequest& create = *request.mutable_create_request();
  create.set_key(key);
  create.set_start_revision(revision);
  create.add_filters(rpc::WatchCreateRequest::NOPUT);
  rpc::Watch::Stub stub{client_->channel(call->endpoint)};
  auto stream = stub.PrepareAsyncWatch(&call->context, &client_->queue());
  Pending& pending = pending_[id];
  pending.done = [done = std::move(done)](Tag&) mutable { done(); };
  pending.stream = call;
  call->start(std::move(stream), std::move(request), call);
  return id;
}

void Session::cancel(std::uint64_t watch) noexcept {
  const auto found = pending_.find(watch);
  if (found != pending_.end() && found->second.stream) {
    found->second.stream->context.TryCancel();
    pending_.erase(found);
  }
}

}  // namespace holdfast::etcd
