#include "store/redis/connection.hpp"

#include <holdfast/error.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;
using State = Connection::State;

OwnerId owner(std::uint8_t number) {
  OwnerId id;
  id.bytes[0] = number;
  return id;
}

// A connection, and what it told.
class RedisConnection : public testing::Test {
 protected:
  RedisConnection() { options.place = {.server = "db1:6379", .prefix = "lock:"}; }

  Connection& start() {
    machine = std::make_unique<Connection>(options, now);
    return *machine;
  }
  void make_ready() {
    start().on_connected();
    written();
    feed("*0\r\n");
    ASSERT_EQ(machine->state(), State::ready);
    log.clear();
  }
  std::string written() { return std::exchange(machine->output(), {}); }

  void feed(std::string_view bytes) {
    machine->on_bytes(bytes, now);
    take();
  }
  void pass(Duration time) {
    now += time;
    machine->on_time(now);
    take();
  }
  void close(std::size_t unsent = 0) {
    machine->on_closed(failed_with(errc::store_unavailable, options.place, "reset"), unsent);
    take();
  }

  void ask(const std::string& name, std::vector<OwnerId> acquires = {}) {
    machine->send(
        {.request = Request::of_command(name),
         .deadline = now + options.op_timeout,
         .handler = [this, name](Outcome outcome) { log.push_back(name + told(outcome)); },
         .acquires = std::move(acquires)});
  }
  static std::string told(const Outcome& outcome) {
    if (const auto* failed = std::get_if<Failed>(&outcome)) {
      return std::string("!") + error_word(static_cast<errc>(failed->code.value())) +
             (failed->may_have_had_effect ? "?" : "");
    }
    return "=" + std::string(std::get<Reply>(outcome).text());
  }
  void take() {
    for (Connection::Event& event : machine->take_events()) {
      if (auto* answered = std::get_if<Connection::Answered>(&event)) {
        answered->handler(std::move(answered->outcome));
      } else if (auto* unsent = std::get_if<Connection::Unsent>(&event)) {
        unsent->ask.handler(failed_with(errc::store_unavailable, options.place, "unsent"));
      } else if (auto* message = std::get_if<Connection::Message>(&event)) {
        log.push_back("message " + message->payload);
      } else if (auto* closed = std::get_if<Connection::Closed>(&event)) {
        log.push_back("closed");
        why = closed->why;
      } else {
        log.push_back(std::holds_alternative<Connection::Ready>(event) ? "ready" : "suspect");
      }
    }
  }

  using Log = std::vector<std::string>;
  Connection::Options options{};
  Instant now{100s};
  std::unique_ptr<Connection> machine;
  Log log;
  Failed why;
};

TEST_F(RedisConnection, ShakesHandsInOneGo) {
  options.place.user = "app";
  options.password = "secret";
  options.database = 3;
  start().on_connected();
  const std::string handshake = written();
  EXPECT_TRUE(handshake.starts_with(encode({"AUTH", "app", "secret"}) + encode({"SELECT", "3"})));
  feed("+OK\r\n+OK\r\n");
  EXPECT_EQ(machine->state(), State::handshake);
  feed("*0\r\n");
  EXPECT_EQ(log, Log{"ready"});
}

TEST_F(RedisConnection, PasswordWithoutUserIsTheOldForm) {
  options.password = "secret";
  start().on_connected();
  EXPECT_TRUE(written().starts_with(encode({"AUTH", "secret"})));
}

TEST_F(RedisConnection, WrongPasswordEndsItAndIsNotShown) {
  options.password = "secret";
  start().on_connected();
  feed("-WRONGPASS invalid username-password pair or user is disabled.\r\n-NOAUTH x\r\n");
  EXPECT_EQ(log, Log{"closed"});
  EXPECT_EQ(why.code, errc::access_denied);
  EXPECT_EQ(why.detail.find("secret"), std::string::npos);
}

TEST_F(RedisConnection, AServerThatRepeatsThePasswordIsNotQuoted) {
  options.password = "secret";
  for (const char* answer :
       {"-ERR unknown command 'AUTH', with args beginning with: 'secret' \r\n",
        "-ERR unknown command `AUTH`, with args beginning with: `secret`, \r\n",
        "-ERR cannot parse secret\r\n"}) {
    start().on_connected();
    feed(answer);
    EXPECT_EQ(why.code, errc::access_denied);
    EXPECT_EQ(why.detail.find("secret"), std::string::npos) << why.detail;
  }
}

TEST_F(RedisConnection, MissingRightsEndItBeforeAnythingIsSent) {
  start().on_connected();
  feed("*2\r\n$8\r\n&PUBLISH\r\n$10\r\n&SUBSCRIBE\r\n");
  EXPECT_EQ(why.code, errc::access_denied);
  EXPECT_NE(why.detail.find("&lock:*"), std::string::npos) << why.detail;
}

TEST_F(RedisConnection, HandshakeIsBounded) {
  start().on_connected();
  pass(2s);
  EXPECT_EQ(log, Log{"closed"});
  EXPECT_EQ(why.code, errc::store_unavailable);
}

TEST_F(RedisConnection, AnswersInOrder) {
  make_ready();
  ask("a");
  ask("b");
  EXPECT_EQ(written(), encode({"a"}) + encode({"b"}));
  feed("+1\r\n+2\r");
  EXPECT_EQ(log, Log{"a=1"});
  feed("\n");
  EXPECT_EQ(log, (Log{"a=1", "b=2"}));
}

TEST_F(RedisConnection, LateAnswersAreDroppedAndTheNextOnesStillFit) {
  make_ready();
  ask("a");
  pass(1s);
  ask("b");
  pass(1s);
  EXPECT_EQ(log, (Log{"a!outcome_unknown?", "suspect"}));
  feed("+late\r\n+2\r\n");
  EXPECT_EQ(log, (Log{"a!outcome_unknown?", "suspect", "b=2", "closed"}));
}

TEST_F(RedisConnection, SuspectLivesOneMoreTimeout) {
  make_ready();
  ask("a", {owner(1)});
  pass(2s);
  EXPECT_EQ(machine->state(), State::suspect);
  EXPECT_TRUE(machine->awaits(owner(1)));
  EXPECT_FALSE(machine->awaits(owner(2)));
  machine->send({.request = Request::of_command("w"), .deadline = now + 2s});
  EXPECT_NE(written().find("w"), std::string::npos);
  pass(1999ms);
  EXPECT_EQ(machine->state(), State::suspect);
  pass(1ms);
  EXPECT_EQ(log.back(), "closed");
}

TEST_F(RedisConnection, LostBeforeItLeftHadNoEffect) {
  make_ready();
  ask("a");
  const std::size_t size_of_a = machine->output().size();
  ask("b");
  const std::size_t size = written().size();
  close(size - size_of_a);  // the kernel took exactly the first
  EXPECT_EQ(log, (Log{"a!outcome_unknown?", "b!store_unavailable", "closed"}));
}

TEST_F(RedisConnection, ScriptIsSentInFullOnceWhenUnknown) {
  make_ready();
  const Script script{"return 1", "0123456789012345678901234567890123456789"};
  machine->send({.request = Request::of_script(script, 0),
                 .deadline = now + 2s,
                 .handler = [this](Outcome outcome) { log.push_back("s" + told(outcome)); },
                 .acquires = {owner(1)}});
  ask("b");
  EXPECT_EQ(written(), encode({"EVALSHA", script.sha1, "0"}) + encode({"b"}));
  feed("-NOSCRIPT No matching script.\r\n+2\r\n");
  EXPECT_EQ(log, Log{"b=2"});
  EXPECT_TRUE(machine->awaits(owner(1)));
  EXPECT_EQ(written(), encode({"EVAL", "return 1", "0"}));
  feed("+one\r\n");
  EXPECT_EQ(log, (Log{"b=2", "s=one"}));
  EXPECT_FALSE(machine->awaits(owner(1)));
}

TEST_F(RedisConnection, ErrorsAreAnswers) {
  make_ready();
  ask("a");
  ask("b");
  feed("-LOADING Redis is loading the dataset in memory\r\n*1\r\n-WRONGTYPE nested\r\n");
  EXPECT_EQ(log, (Log{"a!store_unavailable", "b!unsupported"}));
  EXPECT_EQ(machine->state(), State::ready);
}

TEST_F(RedisConnection, NonsenseEndsItWithUnknownOutcomes) {
  make_ready();
  ask("a");
  written();
  feed("?what\r\n");
  EXPECT_EQ(log, (Log{"a!outcome_unknown?", "closed"}));
}

TEST_F(RedisConnection, AnAnswerToNothingEndsIt) {
  make_ready();
  feed("+hello\r\n");
  EXPECT_EQ(log, Log{"closed"});
}

TEST_F(RedisConnection, WakesAtTheEarliestDeadline) {
  make_ready();
  EXPECT_EQ(machine->wake_at(), Instant::max());
  ask("a");
  EXPECT_EQ(machine->wake_at(), now + 2s);
}

// A connection whose grants wait for replicas: of "grant" the answer 0, of anything else none.
class RedisAcks : public RedisConnection {
 protected:
  RedisAcks() {
    options.acks = {.kind = ReplicaAcks::Kind::majority, .timeout = 100ms};
    start().on_connected();
    written();
    feed("*3\r\n$6\r\nmaster\r\n:1\r\n*2\r\n*0\r\n*0\r\n*0\r\n");  // two replicas
    log.clear();
  }
  void ask_for_grant(Request request = Request::of_command("grant")) {
    machine->send({.request = std::move(request),
                   .deadline = now + options.op_timeout,
                   .handler =
                       [this](Outcome outcome) {
                         const auto* failed = std::get_if<Failed>(&outcome);
                         detail = failed != nullptr ? failed->detail : "";
                         log.push_back(told(outcome));
                       },
                   .needs_acks = [](const Reply& reply) { return reply.text() == "granted"; }});
  }
  std::string detail;
};

TEST_F(RedisAcks, AGrantCountsOnceReplicasHaveIt) {
  ASSERT_EQ(machine->state(), State::ready);
  ask_for_grant();
  EXPECT_TRUE(written().ends_with(encode({"WAIT", "1", "100"})));
  feed("+granted\r\n");
  EXPECT_EQ(log, Log{});
  feed(":2\r\n");
  EXPECT_EQ(log, Log{"=granted"});
}

TEST_F(RedisAcks, ShortOfThemItIsNoAnswer) {
  ask_for_grant();
  feed("+granted\r\n:0\r\n");
  EXPECT_EQ(log, Log{"!store_unavailable?"});
  EXPECT_EQ(detail, "db1:6379: 0 of 1 replicas acknowledged within 100ms");
}

TEST_F(RedisAcks, WhatGrantsNothingDoesNotWait) {
  ask_for_grant();
  ask("next");
  feed("+busy\r\n");
  EXPECT_EQ(log, Log{"=busy"});
  feed(":0\r\n+later\r\n");
  EXPECT_EQ(log, (Log{"=busy", "next=later"}));
}

TEST_F(RedisAcks, AScriptThatIsUnknownIsWaitedForWhenItRan) {
  ask_for_grant(Request::of_script(scripts().acquire, 0));
  written();
  feed("-NOSCRIPT no\r\n:2\r\n");
  EXPECT_TRUE(written().ends_with(encode({"WAIT", "1", "100"})));
  EXPECT_EQ(log, Log{});
  feed("+granted\r\n:1\r\n");
  EXPECT_EQ(log, Log{"=granted"});
}

TEST_F(RedisAcks, LostWhileWaitingItMayHaveHadEffect) {
  ask_for_grant();
  const std::size_t wait = encode({"WAIT", "1", "100"}).size();
  written();
  feed("+granted\r\n");
  close(wait);
  EXPECT_EQ(log, (Log{"!outcome_unknown?", "closed"}));
}

TEST_F(RedisAcks, SilenceIsBoundedByTheDeadline) {
  ask_for_grant();
  feed("+granted\r\n");
  pass(options.op_timeout);
  EXPECT_EQ(log, (Log{"!outcome_unknown?", "suspect"}));
}

TEST_F(RedisConnection, AReplicaIsRefusedWhereAPrimaryMustBe) {
  options.must_be_primary = true;
  start().on_connected();
  EXPECT_NE(written().find("ROLE"), std::string::npos);
  feed("*5\r\n$5\r\nslave\r\n$3\r\ndb2\r\n:6379\r\n$9\r\nconnected\r\n:1\r\n");
  EXPECT_EQ(machine->state(), State::closed);
  EXPECT_EQ(why.code, errc::store_unavailable);
}

TEST_F(RedisConnection, APrimaryThatBecomesAReplicaIsLeft) {
  options.must_be_primary = true;
  start().on_connected();
  feed("*3\r\n$6\r\nmaster\r\n:1\r\n*0\r\n*0\r\n");
  ask("one");
  feed("-READONLY You can't write against a read only replica.\r\n");
  EXPECT_EQ(machine->state(), State::closed);
  EXPECT_EQ(log, (Log{"ready", "one!store_unavailable", "closed"}));
}

class RedisSubscriber : public RedisConnection {
 protected:
  RedisSubscriber() {
    options.subscriber = true;
    options.channel = "lock:wake";
  }
  void subscribe() {
    start().on_connected();
    EXPECT_EQ(written(), encode({"SUBSCRIBE", "lock:wake"}));
    feed("*3\r\n$9\r\nsubscribe\r\n$9\r\nlock:wake\r\n:1\r\n");
    EXPECT_EQ(log, Log{"ready"});
    log.clear();
  }
};

TEST_F(RedisSubscriber, TellsMessages) {
  subscribe();
  feed("*3\r\n$7\r\nmessage\r\n$9\r\nlock:wake\r\n$5\r\nhello\r\n");
  EXPECT_EQ(log, Log{"message hello"});
}

TEST_F(RedisSubscriber, SilenceIsCheckedAndEndsIt) {
  subscribe();
  pass(10s);
  EXPECT_EQ(written(), encode({"PING"}));
  feed("*2\r\n$4\r\npong\r\n$0\r\n\r\n");
  pass(10s);
  EXPECT_EQ(written(), encode({"PING"}));
  pass(2s);
  EXPECT_EQ(log, Log{"closed"});
}

}  // namespace
}  // namespace holdfast::redis
