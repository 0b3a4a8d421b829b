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

constexpr std::size_t name_keys = 8;

// The keys of a name in the order that base_lua's name_at() wants.
void add_keys(Request& request, const RedisKeys& keys, std::string_view name) {
  using enum RedisKeys::Kind;
  request.add(keys.lock(name));
  for (const auto kind : {fence, record, queue, beats, waiters, ends, order}) {
    request.add(keys.helper(kind, name));
  }
}

bool is_shared(const Claim& claim) { return claim.mode == Mode::shared || claim.limit != 0; }

std::string_view mode_of(const Claim& claim) { return is_shared(claim) ? "shared" : "exclusive"; }

// What every grant keeps of a claim.
void add_claim(Request& request, const Claim& claim, const Settings& settings) {
  request.add_number(milliseconds_of(claim.ttl))
      .add_number(milliseconds_of(claim.min_hold))
      .add_number(milliseconds_of(claim.max_hold))
      .add_number(milliseconds_of(claim.lock_delay))
      .add(settings.client_id)
      .add_number(claim.who.pid)
      .add(without_separator(claim.who.host))
      .add(without_separator(claim.who.note));
}

}  // namespace

Request acquire_request(const Claim& claim, bool queueing, const Settings& settings) {
  const bool once = !claim.run_id.empty();
  Request request = Request::of_script(scripts().acquire, name_keys + (once ? 2 : 1));
  add_keys(request, settings.keys, claim.name);
  request.add(settings.keys.tombstone(claim.name, claim.owner));
  if (once) {
    request.add(settings.keys.done_mark(claim.name, claim.run_id));
  }
  request.add(claim.owner.text())
      .add(queueing ? "1" : "0")
      .add_number(milliseconds_of(claim.liveness > Duration{} ? claim.liveness : claim.ttl))
      .add(settings.channel_base);
  add_claim(request, claim, settings);
  if (is_shared(claim) || once || !claim.value.empty()) {  // else the script knows
    request.add(mode_of(claim))
        .add_number(claim.permits)
        .add_number(claim.limit)
        .add(claim.run_id)
        .add(claim.value);
  }
  return request;
}

Request acquire_all_request(std::span<const Claim> claims, const Settings& settings) {
  Request request = Request::of_script(scripts().acquire_all, (name_keys + 1) * claims.size());
  for (const Claim& claim : claims) {
    add_keys(request, settings.keys, claim.name);
    request.add(settings.keys.tombstone(claim.name, claim.owner));
  }
  request.add(settings.channel_base);
  for (const Claim& claim : claims) {
    request.add(claim.owner.text());
    add_claim(request, claim, settings);
    request.add(mode_of(claim)).add_number(claim.permits).add_number(claim.limit).add(claim.value);
  }
  return request;
}

Request renew_request(std::span<const Claim> claims, const Settings& settings) {
  std::size_t keys = 0;
  for (const Claim& claim : claims) {
    keys += is_shared(claim) ? name_keys : 2;
  }
  Request request = Request::of_script(scripts().renew, keys);
  for (const Claim& claim : claims) {
    if (is_shared(claim)) {
      add_keys(request, settings.keys, claim.name);
    } else {
      request.add(settings.keys.lock(claim.name))
          .add(settings.keys.helper(RedisKeys::Kind::record, claim.name));
    }
  }
  request.add(settings.channel_base);
  for (const Claim& claim : claims) {
    request.add(claim.owner.text())
        .add_number(milliseconds_of(claim.ttl))
        .add_number(milliseconds_of(claim.lock_delay))
        .add_number(to_int(claim.fence))
        .add_number(is_shared(claim) ? name_keys : 2);
  }
  return request;
}

Request amend_request(const Claim& claim, const Settings& settings) {
  Request request = Request::of_script(scripts().amend, name_keys);
  add_keys(request, settings.keys, claim.name);
  request.add(claim.owner.text()).add(mode_of(claim)).add(claim.value).add(settings.channel_base);
  return request;
}

Request withdraw_request(const Claim& claim, WithdrawOptions options, const Settings& settings) {
  const bool done = options.remember > Duration{} && !claim.run_id.empty();
  Request request = Request::of_script(scripts().withdraw, name_keys + (done ? 2 : 1));
  add_keys(request, settings.keys, claim.name);
  request.add(settings.keys.tombstone(claim.name, claim.owner));
  if (done) {
    request.add(settings.keys.done_mark(claim.name, claim.run_id));
  }
  request.add(claim.owner.text())
      .add(options.keep_min_hold ? "1" : "0")
      .add_number(options.tombstone ? std::max<std::int64_t>(milliseconds_of(claim.ttl), 1) : 0)
      .add(settings.channel_base)
      .add_number(done ? milliseconds_of(options.remember) : 0);
  return request;
}

Request break_request(const std::string& name, BreakMode mode, const Settings& settings) {
  Request request = Request::of_script(scripts().break_name, name_keys);
  add_keys(request, settings.keys, name);
  request.add(mode == BreakMode::now ? "1" : "0").add(settings.channel_base);
  return request;
}

Request inspect_request(const std::string& name, const Settings& settings) {
  Request request = Request::of_script(scripts().inspect, name_keys);
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
