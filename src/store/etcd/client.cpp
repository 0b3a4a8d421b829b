#include "store/etcd/client.hpp"

#include "base/fork_generation.hpp"
#include "runtime/signals_blocked.hpp"
#include "store/etcd/wake_watches.hpp"

namespace holdfast::etcd {

namespace {

std::shared_ptr<grpc::ChannelCredentials> credentials_of(const Settings& settings) {
  if (!settings.tls) {
    return grpc::InsecureChannelCredentials();
  }
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = settings.tls_ca;
  options.pem_cert_chain = settings.tls_cert;
  options.pem_private_key = settings.tls_key;
  return grpc::SslCredentials(options);
}

grpc::ChannelArguments arguments_of(const Settings& settings) {
  constexpr int first_backoff_ms = 100;
  constexpr int last_backoff_ms = 1000;
  constexpr int ping_every_ms = 10'000;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, first_backoff_ms);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, last_backoff_ms);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, last_backoff_ms);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ping_every_ms);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  if (!settings.tls_name.empty()) {
    arguments.SetSslTargetNameOverride(settings.tls_name);
  }
  return arguments;
}

}  // namespace

Client::Client(const Settings& settings)
    : generation_(fork_generation()), ears_(std::make_shared<Ears>()) {
  const auto credentials = credentials_of(settings);
  for (const std::string& endpoint : settings.endpoints) {
    channels_.push_back(grpc::CreateCustomChannel(endpoint, credentials, arguments_of(settings)));
  }
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { run(); });
}

Client::~Client() {
  if (fork_generation() != generation_) {
    // The thread is the parent's. What would join it here would wait for ever.
    std::construct_at(&thread_);
    return;
  }
  for (int left = under_way_.load(); left != 0; left = under_way_.load()) {
    under_way_.wait(left);
  }
  queue_.Shutdown();
  thread_.join();
}

void Client::ended() noexcept {
  --under_way_;
  under_way_.notify_all();
}

void Client::run() {
  void* tag = nullptr;
  bool ok = false;
  while (queue_.Next(&tag, &ok)) {
    static_cast<Tag*>(tag)->proceed(ok);
  }
}

}  // namespace holdfast::etcd
