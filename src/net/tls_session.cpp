#include "net/tls_session.hpp"

#include "net/socket_address.hpp"
#include "net/socket_bio.hpp"
#include "net/tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace holdfast::net {

namespace {

struct FreeSsl {
  void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
};

// What to do about a certificate that was refused, in one line.
std::string refusal(const std::string& place, const std::string& name, long result) {
  const std::string certificate = "the certificate of " + place;
  switch (result) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return certificate + " has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return certificate + " is not valid yet; is this host's date right?";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return certificate + " is not for \"" + name + "\"; tls_name= says which name to expect";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return certificate + " is signed by an unknown authority; tls_ca=FILE names those to trust";
    default:
      return certificate + " was refused: " + X509_verify_cert_error_string(result);
  }
}

}  // namespace

struct TlsSession::State {
  State(const TlsClient& client, int socket, const std::string& host, std::string its_place)
      : place(std::move(its_place)),
        name(client.options().name.empty() ? host : client.options().name) {
    SSL_CTX* const context = client.state().context(error);
    if (context == nullptr) return;
    ERR_clear_error();
    ssl.reset(SSL_new(context));
    BIO* const bio = ssl == nullptr ? nullptr : new_socket_bio(socket);
    if (bio != nullptr) SSL_set_bio(ssl.get(), bio, bio);
    if (bio == nullptr || !expect_name()) fail("cannot set up TLS: " + take_openssl_errors());
  }

  void fail(std::string detail) {
    error = {.kind = StreamError::Kind::tls, .code = {}, .detail = std::move(detail)};
  }

  bool expect_name() {
    if (is_ip_literal(name)) {
      name.erase(std::min(name.find('%'), name.size()));  // a certificate knows no zones
      return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl.get()), name.c_str()) == 1;
    }
    if (name.ends_with('.')) name.pop_back();  // the root of DNS; certificates leave it out
    SSL_set_hostflags(ssl.get(), X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl.get(), name.c_str()) == 1 &&
           SSL_set_tlsext_host_name(ssl.get(), name.c_str()) == 1;
  }

  // Turns what an SSL_… function returned into what the caller has to do.
  IoResult judge(int returned, std::size_t bytes) {
    if (returned == 1) return {.want = IoResult::Want::nothing, .bytes = bytes, .error = {}};
    const int system = errno;
    const int reason = SSL_get_error(ssl.get(), returned);
    if (reason == SSL_ERROR_WANT_READ) return {.want = IoResult::Want::readable};
    if (reason == SSL_ERROR_WANT_WRITE) return {.want = IoResult::Want::writable};
    usable = false;
    StreamError failure{.kind = StreamError::Kind::closed, .code = {}, .detail = {}};
    const std::string when = handshaken ? "" : " during the TLS handshake";
    const unsigned long pending = ERR_peek_error();
    const long verdict = SSL_get_verify_result(ssl.get());
    if (!handshaken && verdict != X509_V_OK) {
      failure.kind = StreamError::Kind::tls;
      failure.detail = refusal(place, name, verdict);
    } else if (reason == SSL_ERROR_ZERO_RETURN ||
               ERR_GET_REASON(pending) == SSL_R_UNEXPECTED_EOF_WHILE_READING ||
               (reason == SSL_ERROR_SYSCALL && pending == 0 && system == 0)) {
      failure.detail = place + " closed the connection" + when;
    } else if (reason == SSL_ERROR_SYSCALL && pending == 0) {
      failure.code = std::error_code(system, std::system_category());
      failure.detail =
          "the connection to " + place + " broke" + when + ": " + failure.code.message();
    } else {
      failure.kind = StreamError::Kind::tls;
      failure.detail = "TLS with " + place + " failed" + when + ": " + take_openssl_errors();
    }
    ERR_clear_error();
    return {.want = IoResult::Want::nothing, .bytes = 0, .error = std::move(failure)};
  }

  const std::string place;
  std::string name;
  StreamError error{};  // why there is no session
  std::unique_ptr<SSL, FreeSsl> ssl{};
  bool handshaken = false;
  bool usable = true;
};

TlsSession::TlsSession(const TlsClient& client, int socket, const std::string& host,
                       std::string place)
    : state_(std::make_unique<State>(client, socket, host, std::move(place))) {}

TlsSession::~TlsSession() {
  if (state_->handshaken && state_->usable) SSL_shutdown(state_->ssl.get());
  ERR_clear_error();
}

IoResult TlsSession::handshake() {
  if (state_->error) return {.want = IoResult::Want::nothing, .bytes = 0, .error = state_->error};
  ERR_clear_error();
  errno = 0;
  const IoResult result = state_->judge(SSL_connect(state_->ssl.get()), 0);
  state_->handshaken = result.want == IoResult::Want::nothing && !result.error;
  return result;
}

IoResult TlsSession::read(std::span<char> buffer) {
  ERR_clear_error();
  errno = 0;
  std::size_t count = 0;
  const int returned = SSL_read_ex(state_->ssl.get(), buffer.data(), buffer.size(), &count);
  return state_->judge(returned, count);
}

IoResult TlsSession::write(std::string_view bytes) {
  ERR_clear_error();
  errno = 0;
  std::size_t count = 0;
  const int returned = SSL_write_ex(state_->ssl.get(), bytes.data(), bytes.size(), &count);
  return state_->judge(returned, count);
}

bool TlsSession::has_ended() noexcept {
  ERR_clear_error();
  char byte = 0;
  std::size_t count = 0;
  const int returned = SSL_peek_ex(state_->ssl.get(), &byte, 1, &count);
  const int reason = returned == 1 ? SSL_ERROR_NONE : SSL_get_error(state_->ssl.get(), returned);
  ERR_clear_error();
  return reason != SSL_ERROR_NONE && reason != SSL_ERROR_WANT_READ &&
         reason != SSL_ERROR_WANT_WRITE;
}

bool TlsSession::has_pending() const noexcept { return SSL_has_pending(state_->ssl.get()) == 1; }

}  // namespace holdfast::net
