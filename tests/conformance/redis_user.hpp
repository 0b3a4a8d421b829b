// A user's own hiredis connection, next to which the guards work.
#pragma once

#include <holdfast/guard/redis_reply.hpp>

#include "tests/support/redis_server.hpp"

#include <hiredis/hiredis.h>

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace holdfast::redis_tests {

class Connection {
 public:
  explicit Connection(std::uint16_t port) : context_(redisConnect("127.0.0.1", port)) {
    if (!context_ || context_->err != 0) throw std::runtime_error("no connection to Redis");
    redisSetTimeout(context_.get(), {10, 0});
  }
  operator redisContext*() const { return context_.get(); }

  RedisReply ask(const std::vector<std::string>& words) const {
    std::vector<const char*> starts;
    std::vector<std::size_t> sizes;
    for (const std::string& word : words) {
      starts.push_back(word.data());
      sizes.push_back(word.size());
    }
    RedisReply reply(static_cast<redisReply*>(redisCommandArgv(
        context_.get(), static_cast<int>(words.size()), starts.data(), sizes.data())));
    if (!reply) throw std::runtime_error(context_->errstr);
    return reply;
  }
  // As text: a string, status or error as it is, an integer in decimal, nil as "(nil)".
  std::string text(const std::vector<std::string>& words) const {
    const RedisReply reply = ask(words);
    if (reply->type == REDIS_REPLY_INTEGER) return std::to_string(reply->integer);
    return reply->str == nullptr ? "(nil)" : std::string(reply->str, reply->len);
  }

 private:
  struct Free {
    void operator()(redisContext* context) const noexcept { redisFree(context); }
  };
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace holdfast::redis_tests
