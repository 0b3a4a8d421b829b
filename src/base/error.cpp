#include <holdfast/error.hpp>

#include "base/adopted_errors.hpp"

#include <atomic>
#include <utility>

namespace holdfast {

namespace {

struct Entry {
  const char* word;
  const char* message;
  failure condition;
};

Entry entry(errc code) noexcept {
  using enum failure;
  switch (code) {
    case errc::busy:
      return {"busy", "somebody else holds it", not_acquired};
    case errc::timed_out:
      return {"timed_out", "somebody else still held it when the wait ended", not_acquired};
    case errc::cancelled:
      return {"cancelled", "the wait was cancelled", not_acquired};
    case errc::would_deadlock:
      return {"would_deadlock", "the wait could never end: the caller is in its own way",
              not_acquired};
    case errc::already_done:
      return {"already_done", "this run was done before", not_acquired};
    case errc::expired:
      return {"expired", "the lease ended: ownership could not be confirmed in time",
              ownership_lost};
    case errc::taken:
      return {"taken", "the lease is gone: the store has no record of it or another owner's",
              ownership_lost};
    case errc::broken:
      return {"broken", "an operator took the lease away", ownership_lost};
    case errc::max_hold:
      return {"max_hold", "the longest allowed hold was reached", ownership_lost};
    case errc::stale_fence:
      return {"stale_fence", "the fence is stale: a newer holder has already written",
              ownership_lost};
    case errc::already_written:
      return {"already_written", "this fence has already written this row", permanent};
    case errc::not_found:
      return {"not_found", "there is no such row or name", permanent};
    case errc::not_owner:
      return {"not_owner", "the record was gone or another owner's", ownership_lost};
    case errc::store_unavailable:
      return {"store_unavailable", "the store could not be reached or refused for now", transient};
    case errc::outcome_unknown:
      return {"outcome_unknown", "the request was sent and no answer came", transient};
    case errc::access_denied:
      return {"access_denied", "the store denied access", permanent};
    case errc::unsupported:
      return {"unsupported", "this store cannot do this", permanent};
    case errc::invalid_options:
      return {"invalid_options", "impossible or contradicting options", permanent};
    case errc::invalid_name:
      return {"invalid_name", "this name cannot be locked", permanent};
    case errc::invalid_url:
      return {"invalid_url", "the store URL cannot be understood", permanent};
    case errc::format_too_new:
      return {"format_too_new", "the store was written by a newer holdfast", permanent};
    case errc::storage_unsafe:
      return {"storage_unsafe", "the storage cannot be trusted with locks", permanent};
    case errc::closed:
      return {"closed", "the client is closed", permanent};
    case errc::version_conflict:
      return {"version_conflict", "the row was written since it was read", permanent};
  }
  return {"unknown", "unknown holdfast error", permanent};
}

class ErrorCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast"; }
  std::string message(int code) const override { return entry(static_cast<errc>(code)).message; }
  bool equivalent(int code, const std::error_condition& condition) const noexcept override {
    if (condition.category() == failure_category()) {
      return entry(static_cast<errc>(code)).condition == static_cast<failure>(condition.value());
    }
    if (condition == std::errc::timed_out) {
      return static_cast<errc>(code) == errc::timed_out;
    }
    return default_error_condition(code) == condition;
  }
};

class FailureCategory final : public std::error_category {
 public:
  const char* name() const noexcept override { return "holdfast.failure"; }
  std::string message(int condition) const override {
    switch (static_cast<failure>(condition)) {
      case failure::not_acquired:
        return "nothing was acquired";
      case failure::ownership_lost:
        return "ownership was lost";
      case failure::transient:
        return "trying again may help";
      case failure::permanent:
        return "trying again will not help";
    }
    return "unknown holdfast condition";
  }
};

std::atomic<const std::error_category*> adopted_errors{nullptr};
std::atomic<const std::error_category*> adopted_failures{nullptr};

}  // namespace

void adopt_errors(const ErrorCategories& hosts) noexcept {
  adopted_errors = &hosts.errors;
  adopted_failures = &hosts.failures;
}

const std::error_category& error_category() noexcept {
  static const ErrorCategory category;
  const std::error_category* const adopted = adopted_errors.load(std::memory_order_acquire);
  return adopted != nullptr ? *adopted : category;
}

const std::error_category& failure_category() noexcept {
  static const FailureCategory category;
  const std::error_category* const adopted = adopted_failures.load(std::memory_order_acquire);
  return adopted != nullptr ? *adopted : category;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

std::error_condition make_error_condition(failure condition) noexcept {
  return {static_cast<int>(condition), failure_category()};
}

const char* error_word(errc code) noexcept { return entry(code).word; }

Error::Error(std::error_code code, std::string detail)
    : std::system_error(code),
      detail_(std::move(detail)),
      text_(detail_.empty() ? code.message() : code.message() + ": " + detail_) {}

}  // namespace holdfast
