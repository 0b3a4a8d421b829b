#include "net/tls_client.hpp"

#include "net/tls_context.hpp"

#include <openssl/err.h>

#include <array>
#include <utility>

namespace holdfast::net {

TlsClient::TlsClient(TlsOptions options) : state_(std::make_unique<State>(std::move(options))) {}

TlsClient::~TlsClient() = default;

const TlsOptions& TlsClient::options() const noexcept { return state_->options; }

SSL_CTX* TlsClient::State::context(StreamError& error) {
  const std::lock_guard lock(mutex_);
  if (loaded_ != nullptr) return loaded_.get();
  std::unique_ptr<SSL_CTX, FreeContext> fresh(SSL_CTX_new(TLS_client_method()));
  if (fresh == nullptr) {
    error = {.kind = StreamError::Kind::tls,
             .code = {},
             .detail = "OpenSSL cannot be used: " + take_openssl_errors()};
    return nullptr;
  }
  SSL_CTX_set_min_proto_version(fresh.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(fresh.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(fresh.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(fresh.get(), 1);  // one recv() a record instead of two
  const bool from_file = !options.ca_file.empty();
  const int loaded = from_file ? SSL_CTX_load_verify_file(fresh.get(), options.ca_file.c_str())
                               : SSL_CTX_set_default_verify_paths(fresh.get());
  if (loaded != 1) {
    const std::string what = from_file ? "the authorities in tls_ca=" + options.ca_file
                                       : std::string("the system's authorities");
    error = {.kind = StreamError::Kind::tls,
             .code = {},
             .detail = "cannot load " + what + ": " + take_openssl_errors()};
    return nullptr;
  }
  loaded_ = std::move(fresh);
  return loaded_.get();
}

std::string take_openssl_errors() {
  unsigned long last = 0;
  while (const unsigned long number = ERR_get_error()) last = number;
  if (last == 0) return "unknown error";
  if (const char* reason = ERR_reason_error_string(last)) return reason;
  std::array<char, 160> text{};
  ERR_error_string_n(last, text.data(), text.size());
  return text.data();
}

}  // namespace holdfast::net
