#include <holdfast/guard/redis_once.hpp>

#include "guard/redis_call.hpp"
#include "guard/redis_lua.hpp"

#include <hiredis/hiredis.h>

#include <charconv>

namespace holdfast {

namespace {

using guard::Outcome;
using guard::RedisCall;

std::string_view text_of(const redisReply& reply) {
  return reply.type == REDIS_REPLY_STRING ? std::string_view(reply.str, reply.len)
                                          : std::string_view{};
}

// {1, result} or {0, result, fence}; results may be missing.
OnceAnswer answer_of(const redisReply& reply) {
  OnceAnswer answer;
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements == 0) {
    return answer;
  }
  answer.first = reply.element[0]->integer == 1;
  if (reply.elements > 1 && reply.element[1]->type == REDIS_REPLY_STRING) {
    answer.result = text_of(*reply.element[1]);
  }
  if (reply.elements > 2) {
    const std::string_view text = text_of(*reply.element[2]);
    std::int64_t fence = 0;
    std::from_chars(text.data(), text.data() + text.size(), fence);
    answer.fence = Fence{fence};
  }
  return answer;
}

Outcome try_eval(redisContext* context, std::string_view key, const RedisScript& script,
                 const OnceOptions& options, OnceAnswer& answer) {
  if (to_int(options.fence) < 0) {
    return guard::refused("a fence is positive: this is not the fence of a lease");
  }
  std::int64_t ms = 0;
  if (Outcome bad = guard::to_ms(options.remember, ms); bad.code) {
    return bad;
  }
  RedisCall call{.text = guard::if_first(script.text), .script = script};
  if (Outcome bad = guard::make_key("guard.once", key, call.key); bad.code) {
    return bad;
  }
  call.args = {options.fence == Fence::none ? "" : std::to_string(to_int(options.fence)),
               std::to_string(ms)};
  RedisReply reply;
  Outcome outcome = guard::run(context, call, reply);
  if (!outcome.code) {
    answer = answer_of(*reply);
  }
  return outcome;
}

}  // namespace

OnceAnswer RedisOnce::eval(std::string_view key, const RedisScript& script,
                           const OnceOptions& options) {
  OnceAnswer answer;
  try_eval(context_, key, script, options, answer).raise();
  return answer;
}

OnceAnswer RedisOnce::eval(std::string_view key, const RedisScript& script,
                           const OnceOptions& options, std::error_code& ec) {
  OnceAnswer answer;
  ec = try_eval(context_, key, script, options, answer).code;
  return answer;
}

std::string redis_once_key(std::string_view key) {
  std::string made;
  guard::make_key("guard.once", key, made).raise();
  return made;
}

std::string redis_once_key(std::string_view key, std::error_code& ec) {
  std::string made;
  ec = guard::make_key("guard.once", key, made).code;
  return made;
}

}  // namespace holdfast
