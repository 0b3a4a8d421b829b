#include "guard/redis_call.hpp"

#include <hiredis/hiredis.h>

#include <array>

namespace holdfast {

void FreeRedisReply::operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }

namespace guard {

namespace {

constexpr char unit_separator = '\x1f';

struct Word {
  std::string_view first{};
  errc code{};
};

// By the first word of the server's error; anything else is the caller's script or its arguments.
constexpr std::array refusals{
    Word{"HOLDFAST_STALE", errc::stale_fence},   Word{"HOLDFAST_OWNER", errc::not_owner},
    Word{"NOAUTH", errc::access_denied},         Word{"NOPERM", errc::access_denied},
    Word{"WRONGPASS", errc::access_denied},      Word{"DENIED", errc::access_denied},
    Word{"OOM", errc::store_unavailable},        Word{"LOADING", errc::store_unavailable},
    Word{"BUSY", errc::store_unavailable},       Word{"READONLY", errc::store_unavailable},
    Word{"MASTERDOWN", errc::store_unavailable}, Word{"CLUSTERDOWN", errc::store_unavailable},
    Word{"TRYAGAIN", errc::store_unavailable},   Word{"NOREPLICAS", errc::store_unavailable},
    Word{"MISCONF", errc::store_unavailable},    Word{"MOVED", errc::store_unavailable},
    Word{"ASK", errc::store_unavailable},
};

errc code_of(std::string_view text) {
  const std::string_view first = text.substr(0, text.find(' '));
  for (const Word& word : refusals) {
    if (first == word.first) {
      return word.code;
    }
  }
  // Before Redis 7, and for rights even there, what a script ran into is told within a sentence.
  if (text.find("The user executing the script can't") != std::string_view::npos) {
    return errc::access_denied;
  }
  if (text.find("OOM command not allowed") != std::string_view::npos) {
    return errc::store_unavailable;
  }
  return errc::invalid_options;
}

std::string advice(std::string_view text) {
  if (text.starts_with("CROSSSLOT")) {
    return ": the resource and all keys need one {tag} in a Cluster";
  }
  if (text.starts_with("MOVED") || text.starts_with("ASK")) {
    return ": connect to the node that has this slot";
  }
  return "";
}

Outcome failure_of(const redisReply& reply) {
  std::string text(reply.str, reply.len);
  const errc code = code_of(text);
  text += advice(text);
  if (text.starts_with("HOLDFAST_")) {
    text = text.substr(text.find(' ') + 1);
  }
  return {make_error_code(code), std::move(text)};
}

std::string error_of(const redisContext& context) { return &context.errstr[0]; }

}  // namespace

Outcome refused(std::string detail) {
  return {make_error_code(errc::invalid_options), std::move(detail)};
}

Outcome run(redisContext* context, const RedisCall& call, RedisReply& reply) {
  if (context->err != 0) {
    return {make_error_code(errc::store_unavailable),
            "this connection has failed before (" + error_of(*context) + "): make a new one"};
  }
  const std::string count = std::to_string(call.script.keys.size() + 1);
  std::vector<std::string_view> words{"EVAL", call.text, count, call.key};
  words.insert(words.end(), call.script.keys.begin(), call.script.keys.end());
  words.insert(words.end(), call.args.begin(), call.args.end());
  words.insert(words.end(), call.script.args.begin(), call.script.args.end());
  std::vector<const char*> starts;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    starts.push_back(word.data() != nullptr ? word.data() : "");
    sizes.push_back(word.size());
  }
  RedisReply answer(static_cast<redisReply*>(
      redisCommandArgv(context, static_cast<int>(words.size()), starts.data(), sizes.data())));
  if (!answer) {
    return {make_error_code(errc::outcome_unknown),
            context->err != 0 ? error_of(*context) : "the connection must be a blocking one"};
  }
  if (answer->type == REDIS_REPLY_ERROR) {
    return failure_of(*answer);
  }
  if (answer->type == REDIS_REPLY_STATUS && std::string_view(answer->str) == "QUEUED") {
    return refused("a MULTI is open on this connection: a guard must see its answer");
  }
  reply = std::move(answer);
  return {};
}

bool is_guard_key(std::string_view key) {
  return key.starts_with("holdfast:{") && key.find("}\x1fguard.") != std::string_view::npos;
}

Outcome make_key(std::string_view kind, std::string_view subject, std::string& key) {
  if (subject.empty()) {
    return refused("the resource or key is empty");
  }
  if (is_guard_key(subject)) {
    return refused("this key belongs to a guard");
  }
  // What Redis Cluster hashes: the text in the first {…} if there is any, else all of it.
  std::string_view tag = subject;
  const auto open = subject.find('{');
  const auto close = open == std::string_view::npos ? open : subject.find('}', open + 1);
  if (close != std::string_view::npos && close > open + 1) {
    tag = subject.substr(open + 1, close - open - 1);
  } else if (subject.find('}') != std::string_view::npos) {
    return refused("a \"}\" outside of a {tag}: no other key could be in its hash slot");
  }
  key = "holdfast:{";
  key.append(tag).append("}").append(1, unit_separator).append(kind);
  key.append(1, unit_separator).append(subject);
  return {};
}

Outcome to_ms(Duration time, std::int64_t& ms) {
  using namespace std::chrono_literals;
  if (time < 1ms || time > 24h * 36'525) {
    return refused("a time to live is from 1 millisecond to 100 years");
  }
  ms = std::chrono::ceil<std::chrono::milliseconds>(time).count();
  return {};
}

}  // namespace guard

}  // namespace holdfast
