// OpenSSL's side of a TlsClient.
#pragma once

#include "net/stream_error.hpp"
#include "net/tls_client.hpp"

#include <openssl/ssl.h>

#include <memory>
#include <mutex>
#include <string>

namespace holdfast::net {

struct FreeContext {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
};

struct TlsClient::State {
  explicit State(TlsOptions its_options) : options(std::move(its_options)) {}

  // Loads it at the first use; null with `error` when a file is bad, and tries again the next time.
  SSL_CTX* context(StreamError& error);

  const TlsOptions options;

 private:
  std::mutex mutex_{};
  std::unique_ptr<SSL_CTX, FreeContext> loaded_{};
};

// Takes this thread's OpenSSL errors and says the last one.
std::string take_openssl_errors();

}  // namespace holdfast::net
