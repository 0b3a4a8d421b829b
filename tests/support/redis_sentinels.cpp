#include "tests/support/redis_sentinels.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/free_port.hpp"

#include <hiredis/hiredis.h>

#include <csignal>
#include <fstream>
#include <stdexcept>

namespace holdfast::test {

struct RedisSentinels::Sentinel {
  TempDir dir{};
  std::uint16_t port = free_port();
  std::unique_ptr<Process> process{};
};

namespace {

struct Disconnect {
  void operator()(redisContext* context) const noexcept { redisFree(context); }
};
struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using Connection = std::unique_ptr<redisContext, Disconnect>;

// Elements of an array a line each; empty: no answer.
std::string answer_of(redisContext& context, const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  for (const std::string& word : words) {
    pointers.push_back(word.c_str());
  }
  const std::unique_ptr<redisReply, FreeReply> reply{static_cast<redisReply*>(
      redisCommandArgv(&context, static_cast<int>(pointers.size()), pointers.data(), nullptr))};
  if (!reply) {
    return {};
  }
  if (reply->type == REDIS_REPLY_INTEGER) {
    return std::to_string(reply->integer);
  }
  if (reply->type != REDIS_REPLY_ARRAY) {
    return reply->str == nullptr ? "" : reply->str;
  }
  std::string text;
  for (std::size_t i = 0; i < reply->elements; ++i) {
    const redisReply& element = *reply->element[i];
    text += (i == 0 ? "" : "\n") + std::string(element.str == nullptr ? "" : element.str);
  }
  return text;
}

// Sentinel cuts all connections of a server whose role it changes: an answer may not come.
std::string ask(RedisServer& server, const std::vector<std::string>& words) {
  try {
    return server.command(words);
  } catch (const std::runtime_error&) {
    return {};
  }
}

std::string field_of(const std::string& lines, const std::string& name) {
  const std::size_t at = ("\n" + lines).find("\n" + name + "\n");
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t start = at + name.size() + 1;
  return lines.substr(start, lines.find('\n', start) - start);
}

}  // namespace

RedisSentinels::RedisSentinels(SentinelOptions options) : options_(std::move(options)) {
  options_.more.insert(options_.more.end(), {"--repl-diskless-sync-delay", "0"});
  servers_.push_back(std::make_unique<RedisServer>(RedisOptions{.more = options_.more}));
  for (int i = 0; i < options_.replicas; ++i) {
    RedisOptions replica{.more = options_.more};
    replica.more.insert(replica.more.end(),
                        {"--replicaof", "127.0.0.1 " + std::to_string(primary().port())});
    servers_.push_back(std::make_unique<RedisServer>(replica));
  }
  start_sentinels();
  await_agreement();
}

RedisSentinels::~RedisSentinels() = default;

void RedisSentinels::start_sentinels() {
  for (int i = 0; i < options_.sentinels; ++i) {
    auto sentinel = std::make_unique<Sentinel>();
    const std::string file = (sentinel->dir / "sentinel.conf").string();
    std::ofstream conf{file};
    conf << "port " << sentinel->port << "\nbind 127.0.0.1\ndir " << sentinel->dir.path().string()
         << "\nsentinel monitor " << name << " 127.0.0.1 " << primary().port() << ' '
         << options_.quorum << "\nsentinel down-after-milliseconds " << name << ' '
         << options_.down_after_ms << "\nsentinel failover-timeout " << name << " 1000\n";
    if (!options_.sentinel_password.empty()) {
      conf << "requirepass " << options_.sentinel_password << "\nsentinel sentinel-pass "
           << options_.sentinel_password << '\n';
    }
    conf.close();
    sentinel->process =
        std::make_unique<Process>(ProcessOptions{.args = {"redis-server", file, "--sentinel"}});
    sentinels_.push_back(std::move(sentinel));
  }
}

std::string RedisSentinels::url() const {
  std::string hosts;
  for (const auto& sentinel : sentinels_) {
    hosts +=
        (hosts.empty() ? "" : ",") + std::string("127.0.0.1:") + std::to_string(sentinel->port);
  }
  return "redis+sentinel://" + hosts + "/" + name;
}

std::string RedisSentinels::ask_sentinel(std::size_t index, const std::vector<std::string>& words) {
  const Connection context{
      redisConnectWithTimeout("127.0.0.1", sentinels_.at(index)->port, timeval{1, 0})};
  if (!context || context->err != 0) {
    return {};
  }
  redisSetTimeout(context.get(), timeval{2, 0});
  if (!options_.sentinel_password.empty()) {
    answer_of(*context, {"AUTH", options_.sentinel_password});
  }
  return answer_of(*context, words);
}

void RedisSentinels::stop_sentinel(std::size_t index) {
  sentinels_.at(index)->process->signal(SIGKILL);
  sentinels_.at(index)->process->wait();
}

bool RedisSentinels::agreed() {
  for (std::size_t i = 0; i < sentinels_.size(); ++i) {
    if (!sentinels_[i]->process->running()) {
      continue;
    }
    const std::string told = ask_sentinel(i, {"SENTINEL", "MASTER", name});
    if (field_of(told, "port") != std::to_string(primary().port()) ||
        field_of(told, "flags") != "master" ||
        field_of(told, "num-slaves") != std::to_string(servers_.size() - 1) ||
        field_of(told, "num-other-sentinels") != std::to_string(sentinels_.size() - 1)) {
      return false;
    }
  }
  const std::string told = ask(primary(), {"INFO", "replication"});
  std::size_t online = 0;
  for (std::size_t at = told.find("state=online"); at != std::string::npos;
       at = told.find("state=online", at + 1)) {
    ++online;
  }
  return online == servers_.size() - 1;
}

// Sentinel itself would wait ten seconds before it makes the old primary a replica.
void RedisSentinels::await_agreement() {
  for (const auto& server : servers_) {
    if (server.get() != &primary() && ask(*server, {"ROLE"}).starts_with("master")) {
      ask(*server, {"REPLICAOF", "127.0.0.1", std::to_string(primary().port())});
    }
  }
  if (!eventually([this] { return agreed(); }, std::chrono::seconds{30})) {
    throw std::runtime_error{"the sentinels do not agree on the primary"};
  }
}

RedisServer& RedisSentinels::await_promotion() {
  const bool promoted = eventually(
      [this] {
        for (std::size_t i = 0; i < servers_.size(); ++i) {
          if (i != primary_ && ask(*servers_[i], {"ROLE"}).starts_with("master")) {
            primary_ = i;
            return true;
          }
        }
        return false;
      },
      std::chrono::seconds{30});
  if (!promoted) {
    throw std::runtime_error{"no replica was promoted"};
  }
  return primary();
}

RedisServer& RedisSentinels::fail_over() {
  const std::string answer = ask_sentinel(0, {"SENTINEL", "FAILOVER", name});
  if (answer != "OK") {
    throw std::runtime_error{"SENTINEL FAILOVER: " + answer};
  }
  return await_promotion();
}

}  // namespace holdfast::test
