#include "tests/support/redis_server.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/free_port.hpp"

#include <hiredis/hiredis.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace holdfast::test {

namespace {

// With an ACL in force the tests keep this way in, for command().
constexpr const char* admin_name = "test-admin";
constexpr const char* admin_password = "test-admin-password";

std::string text_of(const redisReply& reply) {
  switch (reply.type) {
    case REDIS_REPLY_ERROR:
      return "-" + std::string(reply.str, reply.len);
    case REDIS_REPLY_INTEGER:
      return std::to_string(reply.integer);
    case REDIS_REPLY_NIL:
      return "(nil)";
    case REDIS_REPLY_ARRAY: {
      std::string text;
      for (std::size_t i = 0; i < reply.elements; ++i) {
        text += (i == 0 ? "" : "\n") + text_of(*reply.element[i]);
      }
      return text;
    }
    default:
      return {reply.str, reply.len};
  }
}

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};

std::unique_ptr<redisReply, FreeReply> send(redisContext& context,
                                            const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  std::vector<std::size_t> sizes;
  for (const std::string& word : words) {
    pointers.push_back(word.data());
    sizes.push_back(word.size());
  }
  return std::unique_ptr<redisReply, FreeReply>(static_cast<redisReply*>(
      redisCommandArgv(&context, static_cast<int>(words.size()), pointers.data(), sizes.data())));
}

bool was_closed(const redisContext& context) {
  char byte = 0;
  return recv(context.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

}  // namespace

void RedisServer::Disconnect::operator()(redisContext* context) const noexcept {
  redisFree(context);
}

bool RedisServer::installed() { return is_in_path("redis-server"); }

RedisServer::RedisServer(RedisOptions options) : options_(std::move(options)) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    port_ = free_port();
    if (start_once()) return;
  }
  throw std::runtime_error("redis-server does not start: " + process_->out() + process_->err());
}

RedisServer::~RedisServer() = default;

std::string RedisServer::url() const {
  const std::string host = options_.bind == "::1" ? "[::1]" : options_.bind;
  const std::string place = host + ":" + std::to_string(port_);
  if (!options_.tls) return "redis://" + place;
  return "rediss://" + place + "?tls_ca=" + TestCertificates::get().authority();
}

std::string RedisServer::unix_url() const { return "redis+unix://" + unix_path(); }

void RedisServer::freeze() { process_->signal(SIGSTOP); }

void RedisServer::thaw() { process_->signal(SIGCONT); }

void RedisServer::kill_hard() {
  admin_.reset();
  process_->signal(SIGKILL);
  process_->wait();
}

void RedisServer::shut_down() {
  admin_.reset();
  process_->signal(SIGTERM);
  if (!process_->wait()) throw std::runtime_error("redis-server does not end");
}

void RedisServer::start() {
  if (!start_once()) {
    throw std::runtime_error("redis-server does not start: " + process_->out() + process_->err());
  }
}

void RedisServer::restart() {
  shut_down();
  start();
}

std::vector<std::string> RedisServer::arguments() const {
  const std::string port = std::to_string(port_);
  std::vector<std::string> words = {"redis-server",
                                    "--bind",
                                    options_.bind,
                                    "--dir",
                                    dir_.path(),
                                    "--unixsocket",
                                    unix_path(),
                                    "--save",
                                    "",
                                    "--appendonly",
                                    options_.persistent ? "yes" : "no",
                                    "--appendfsync",
                                    "always"};
  const auto add = [&words](std::initializer_list<std::string> some) {
    words.insert(words.end(), some);
  };
  if (options_.tls) {
    const TestCertificates& files = TestCertificates::get();
    add({"--port", "0", "--tls-port", port, "--tls-auth-clients", "no"});
    add({"--tls-cert-file", files.certificate(*options_.tls)});
    add({"--tls-key-file", files.key(*options_.tls), "--tls-ca-cert-file", files.authority()});
  } else {
    add({"--port", port});
  }
  if (!options_.password.empty()) {
    add({"--user", "default", "on", ">" + options_.password, "~*", "&*", "+@all"});
  }
  if (!options_.user.empty()) {
    if (options_.password.empty()) add({"--user", "default", "off"});
    add({"--user"});
    words.insert(words.end(), options_.user.begin(), options_.user.end());
  }
  add({"--user", admin_name, "on", std::string(">") + admin_password, "~*", "&*", "+@all"});
  words.insert(words.end(), options_.more.begin(), options_.more.end());
  return words;
}

bool RedisServer::start_once() {
  admin_.reset();
  unlink(unix_path().c_str());
  process_ = std::make_unique<Process>(ProcessOptions{.args = arguments()});
  bool answers = false;
  eventually([&] {
    if (!process_->running()) return true;
    try {
      answers = command({"PING"}) == "PONG";  // "-LOADING …" while it reads its files
    } catch (const std::runtime_error&) {
      answers = false;
    }
    return answers;
  });
  return answers;
}

std::string RedisServer::command(const std::vector<std::string>& words) {
  if (admin_ != nullptr && was_closed(*admin_)) admin_.reset();  // CLIENT KILL, or a new start
  if (admin_ == nullptr) {
    admin_.reset(redisConnectUnixWithTimeout(unix_path().c_str(), timeval{5, 0}));
    if (admin_ == nullptr || admin_->err != 0) {
      admin_.reset();
      throw std::runtime_error("cannot connect to the redis-server under test");
    }
    redisSetTimeout(admin_.get(), timeval{5, 0});
    if (send(*admin_, {"AUTH", admin_name, admin_password}) == nullptr) admin_.reset();
  }
  const auto reply = admin_ == nullptr ? nullptr : send(*admin_, words);
  if (reply == nullptr) {
    admin_.reset();
    throw std::runtime_error("the redis-server under test does not answer");
  }
  return text_of(*reply);
}

std::int64_t RedisServer::calls(const std::string& name) {
  const std::string info = command({"INFO", "commandstats"});
  const std::string line = "cmdstat_" + name + ":calls=";
  const std::size_t found = info.find(line);
  return found == std::string::npos ? 0 : std::stoll(info.substr(found + line.size()));
}

}  // namespace holdfast::test
