// A blocking hiredis connection as people write it by hand: the floor of the Redis benchmarks.
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace holdfast::bench {

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;
struct FreeContext {
  void operator()(redisContext* context) const noexcept { redisFree(context); }
};

class BareRedis {
 public:
  explicit BareRedis(int port) : context_(redisConnect("127.0.0.1", port)) {
    if (!context_ || context_->err != 0) {
      throw std::runtime_error{"cannot connect to the benchmark's redis-server"};
    }
  }

  Reply send(const std::string& bytes) {
    redisAppendFormattedCommand(context_.get(), bytes.data(), bytes.size());
    void* reply = nullptr;
    if (redisGetReply(context_.get(), &reply) != REDIS_OK) {
      throw std::runtime_error{context_->errstr};
    }
    Reply owned{static_cast<redisReply*>(reply)};
    if (owned->type == REDIS_REPLY_ERROR) {
      throw std::runtime_error{owned->str};
    }
    return owned;
  }
  template <class... Arguments>
  Reply command(const char* format, Arguments... arguments) {
    return Reply{static_cast<redisReply*>(redisCommand(context_.get(), format, arguments...))};
  }

 private:
  std::unique_ptr<redisContext, FreeContext> context_;
};

}  // namespace holdfast::bench
