#include "store/etcd/errors.hpp"

#include <holdfast/error.hpp>

namespace holdfast::etcd {

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') {
      c = ' ';
    }
  }
  return text;
}

}  // namespace

Failed why_failed(const std::string& place, const grpc::Status& status) {
  const std::string& words = status.error_message();
  const std::string detail = place + ": " + one_line(words);
  const auto code = status.error_code();
  if (contains(words, "handshake failed") || contains(words, "certificate")) {
    return {errc::access_denied, false, detail + "; check tls_ca= and tls_name="};
  }
  if (contains(words, "failed to connect") || contains(words, "DNS resolution failed")) {
    return {errc::store_unavailable, false, detail};
  }
  if (code == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return {errc::outcome_unknown, true, place + ": no answer within op_timeout"};
  }
  if (contains(words, "user name is empty")) {
    return {errc::access_denied, false, detail + "; name the user: etcd://USER@HOST"};
  }
  if (code == grpc::StatusCode::UNAUTHENTICATED || code == grpc::StatusCode::PERMISSION_DENIED ||
      contains(words, "authentication failed") || contains(words, "permission denied")) {
    return {errc::access_denied, false,
            detail + "; docs/stores/etcd.md lists the rights that are needed"};
  }
  if (code == grpc::StatusCode::RESOURCE_EXHAUSTED) {
    return {errc::store_unavailable, false, detail + "; compact, defragment, disarm the alarm"};
  }
  if (code == grpc::StatusCode::UNAVAILABLE || code == grpc::StatusCode::CANCELLED ||
      code == grpc::StatusCode::UNKNOWN || code == grpc::StatusCode::INTERNAL) {
    return {errc::outcome_unknown, true, detail};
  }
  return {errc::store_unavailable, false, detail};
}

}  // namespace holdfast::etcd
