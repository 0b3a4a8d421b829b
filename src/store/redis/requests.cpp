#include "store/redis/requests.hpp"

#include "store/redis/request_keys.hpp"

#include <algorithm>
#include <chrono>

namespace holdfast::redis {

namespace {

// The scripts join a waiter's fields with the unit separator.
std::string without_separator(std::string text) {
  std::replace(text.begin(), text.end(), unit_separator, ' ');
  return text;
}

}  // namespace

std::int64_t milliseconds_of(Duration duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::max(duration, Duration{})).count();
}

Request acquire_request(const Claim& claim, bool queueing, const Settings& settings) {
  Request request = Request::of_script(scripts().acquire, 7);
  add_all_keys(request, settings.keys, claim.name);
  request.add(settings.keys.tombstone(claim.name, claim.owner))
      .add(claim.owner.text())
      .add(queueing ? "1" : "0")
      .add_number(milliseconds_of(claim.liveness > Duration{} ? claim.liveness : claim.ttl))
      .add(settings.channel_base)
      .add_number(milliseconds_of(claim.ttl))
      .add_number(milliseconds_of(claim.min_hold))
      .add_number(milliseconds_of(claim.max_hold))
      .add_number(milliseconds_of(claim.lock_delay))
      .add(settings.client_id)
      .add_number(claim.who.pid)
      .add(without_separator(claim.who.host))
      .add(without_separator(claim.who.note));
  return request;
}

Request withdraw_request(const Claim& claim, WithdrawOptions options, const Settings& settings) {
  Request request = Request::of_script(scripts().withdraw, 7);
  add_all_keys(request, settings.keys, claim.name);
  request.add(settings.keys.tombstone(claim.name, claim.owner))
      .add(claim.owner.text())
      .add(options.keep_min_hold ? "1" : "0")
      .add_number(options.tombstone ? std::max<std::int64_t>(milliseconds_of(claim.ttl), 1) : 0)
      .add(settings.channel_base);
  return request;
}

}  // namespace holdfast::redis
