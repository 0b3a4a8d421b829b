// What a client needs to check a TLS server: whom to trust and which name to expect. One for all
// connections to a store; loading the system's authorities costs milliseconds.
#pragma once

#include <memory>
#include <string>

namespace holdfast::net {

struct TlsOptions {
  std::string ca_file{};  // PEM; empty: the system's authorities
  std::string name{};     // the name to verify and to send (SNI); empty: the host of the URL
};

// Thread-safe. There is no way to switch verification off. Files are read at the first use, and a
// file that cannot be read is an error of that connection (StreamError::Kind::tls).
class TlsClient {
 public:
  explicit TlsClient(TlsOptions options);
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;
  ~TlsClient();

  const TlsOptions& options() const noexcept;

  struct State;  // OpenSSL's side of it
  State& state() const noexcept { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::net
