#include "store/redis/requests.hpp"

#include <algorithm>

namespace holdfast::redis {

namespace {

constexpr std::string_view scan_count = "200";

std::int64_t milliseconds_of(Duration duration) {
  return std::chrono::ceil<std::chrono::milliseconds>(std::max(duration, Duration{})).count();
}

// The scripts join a waiter's fields with the unit separator.
std::string without_separator(std::string text) {
  std::replace(text.begin(), text.end(), unit_separator, ' ');
  return text;
}

// KEYS[1] to KEYS[6] of the scripts that work on one name.
void add_keys(Request& request, const RedisKeys& keys, std::string_view name) {
  using enum RedisKeys::Kind;
  request.add(keys.lock(name));
  for (const auto kind : {fence, record, queue, beats, waiters}) {
    request.add(keys.helper(kind, name));
  }
}

}  // namespace

Request acquire_request(const Claim& claim, bool queueing, const Settings& settings) {
  Request request = Request::of_script(scripts().acquire, 7);
  add_keys(request, settings.keys, claim.name);
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

Request renew_request(std::span<const Claim> claims, const Settings& settings) {
  Request request = Request::of_script(scripts().renew, 2 * claims.size());
  for (const Claim& claim : claims) {
    request.add(settings.keys.lock(claim.name))
        .add(settings.keys.helper(RedisKeys::Kind::record, claim.name));
  }
  request.add(settings.channel_base);
  for (const Claim& claim : claims) {
    request.add(claim.owner.text())
        .add_number(milliseconds_of(claim.ttl))
        .add_number(milliseconds_of(claim.lock_delay));
  }
  return request;
}

Request withdraw_request(const Claim& claim, WithdrawOptions options, const Settings& settings) {
  Request request = Request::of_script(scripts().withdraw, 7);
  add_keys(request, settings.keys, claim.name);
  request.add(settings.keys.tombstone(claim.name, claim.owner))
      .add(claim.owner.text())
      .add(options.keep_min_hold ? "1" : "0")
      .add_number(options.tombstone ? std::max<std::int64_t>(milliseconds_of(claim.ttl), 1) : 0)
      .add(settings.channel_base);
  return request;
}

Request break_request(const std::string& name, BreakMode mode, const Settings& settings) {
  Request request = Request::of_script(scripts().break_name, 6);
  add_keys(request, settings.keys, name);
  request.add(mode == BreakMode::now ? "1" : "0").add(settings.channel_base);
  return request;
}

Request inspect_request(const std::string& name, const Settings& settings) {
  Request request = Request::of_script(scripts().inspect, 6);
  add_keys(request, settings.keys, name);
  return request;
}

Request scan_request(const std::string& cursor, const Settings& settings) {
  Request request = Request::of_command("SCAN");
  request.add(cursor.empty() ? "0" : cursor)
      .add("MATCH")
      .add(settings.keys.scan_pattern())
      .add("COUNT")
      .add(scan_count);
  return request;
}

}  // namespace holdfast::redis
