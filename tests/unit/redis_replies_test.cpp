// From the scripts' replies to the store's answers.
#include <holdfast/error.hpp>

#include "store/redis/replies.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace holdfast::redis {
namespace {

using namespace std::chrono_literals;

const std::string owner_a(32, 'a');

Reply reply_of(const std::string& bytes) {
  RespReader reader;
  reader.feed(bytes);
  auto reply = reader.next();
  EXPECT_TRUE(reply) << bytes;
  return reply ? *std::move(reply) : Reply{};
}

std::string bulk(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}

std::string array_of(std::size_t size, const std::string& elements) {
  return "*" + std::to_string(size) + "\r\n" + elements;
}

constexpr std::size_t holder_size = 13;
std::string holder_fields() {
  std::string all;
  for (const char* field : {"77", "1500", "42", "0", "1", "host", "note", "shared", "2", "5"}) {
    all += bulk(field);
  }
  return bulk(owner_a) + all + bulk(std::string{"v\0\x1f", 3}) + ":900\r\n";
}

void expect_the_holder(const Holder& holder) {
  EXPECT_EQ(holder.owner.text(), owner_a);
  EXPECT_EQ(to_int(holder.fence), 77);
  EXPECT_EQ(holder.held_for, 1500ms);
  EXPECT_EQ(holder.who, (Who{"host", 42, "note"}));
  EXPECT_TRUE(holder.released);
  EXPECT_FALSE(holder.broken);
  EXPECT_EQ(holder.mode, Mode::shared);
  EXPECT_EQ(holder.permits, 2U);
  EXPECT_EQ(holder.limit, 5U);
  EXPECT_EQ(holder.value, (std::string{"v\0\x1f", 3}));
  EXPECT_EQ(holder.ttl_left, 900ms);
}

std::optional<AcquireReply> acquired(const std::string& bytes) {
  return parse_acquired(reply_of(bytes), 0);
}

TEST(RedisReplies, Granted) {
  const auto granted = acquired("*3\r\n:0\r\n:1796067301137649\r\n:5000\r\n");
  ASSERT_TRUE(granted && std::holds_alternative<Granted>(*granted));
  EXPECT_EQ(to_int(std::get<Granted>(*granted).fence), 1796067301137649);
  EXPECT_EQ(std::get<Granted>(*granted).floor, std::get<Granted>(*granted).fence);
  EXPECT_EQ(std::get<Granted>(*granted).ttl, 5s);
  const auto beside = acquired("*4\r\n:0\r\n:9\r\n:5000\r\n:7\r\n");
  ASSERT_TRUE(beside && std::holds_alternative<Granted>(*beside));
  EXPECT_EQ(std::get<Granted>(*beside).floor, Fence{7});
}

TEST(RedisReplies, NotFree) {
  const auto queued =
      acquired(array_of(3 + holder_size, ":1\r\n:900\r\n" + bulk("80") + holder_fields()));
  ASSERT_TRUE(queued && std::holds_alternative<Queued>(*queued));
  EXPECT_EQ(std::get<Queued>(*queued).recheck_in, 900ms);
  EXPECT_EQ(std::get<Queued>(*queued).last_fence, Fence{80});
  expect_the_holder(std::get<Queued>(*queued).holder.value());
  const auto evicted =
      acquired(array_of(3 + holder_size, ":1\r\n:900\r\n" + bulk("0") + holder_fields()));
  EXPECT_EQ(std::get<Queued>(evicted.value()).last_fence, Fence{77}) << "at least the holder's";

  const auto foreign = acquired(array_of(3, ":2\r\n:-1\r\n" + bulk("0")));
  ASSERT_TRUE(foreign && std::holds_alternative<Busy>(*foreign));
  EXPECT_GT(std::get<Busy>(*foreign).recheck_in, 1s);  // held without end is never "now"
  EXPECT_TRUE(std::get<Busy>(*foreign).holder);
  EXPECT_TRUE(std::holds_alternative<Busy>(acquired("*1\r\n:2\r\n").value()));
}

TEST(RedisReplies, RefusedOrDone) {
  const auto refused = parse_acquired(reply_of("*2\r\n:3\r\n:5\r\n"), 3);
  ASSERT_TRUE(refused && std::holds_alternative<Failed>(*refused));
  const Failed& failed = std::get<Failed>(*refused);
  EXPECT_EQ(failed.code, errc::invalid_options);
  EXPECT_FALSE(failed.may_have_had_effect);
  EXPECT_EQ(failed.detail,
            "the name is in use as a semaphore with limit 5, not as a semaphore with limit 3");
  const auto done = acquired("*1\r\n:4\r\n");
  EXPECT_TRUE(done && std::holds_alternative<AlreadyDone>(*done));
}

TEST(RedisReplies, AllAcquired) {
  const std::vector<Claim> two{{.name = "a"}, {.name = "b"}};
  const auto all = [&](const std::string& bytes) {
    return parse_all_acquired(reply_of(bytes), two);
  };
  const auto granted = all("*7\r\n:0\r\n:9\r\n:5000\r\n:9\r\n:8\r\n:100\r\n:7\r\n");
  ASSERT_TRUE(granted && std::holds_alternative<AllGranted>(*granted));
  EXPECT_EQ(std::get<AllGranted>(*granted).at(1).floor, Fence{7});
  const auto busy =
      all(array_of(4 + holder_size, ":2\r\n:1\r\n:900\r\n" + bulk("80") + holder_fields()));
  ASSERT_TRUE(busy && std::holds_alternative<AllBusy>(*busy));
  EXPECT_EQ(std::get<AllBusy>(*busy).which, 1U);
  expect_the_holder(std::get<AllBusy>(*busy).busy.holder.value());
  const auto buried = all(array_of(4, ":2\r\n:0\r\n:-2\r\n" + bulk("0")));
  EXPECT_FALSE(std::get<AllBusy>(buried.value()).busy.holder) << "nobody holds it";
  const auto refused = all("*3\r\n:3\r\n:1\r\n:0\r\n");
  ASSERT_TRUE(refused && std::holds_alternative<Failed>(*refused));
  EXPECT_NE(std::get<Failed>(*refused).detail.find("\"b\""), std::string::npos);
  for (const char* bytes :
       {":0\r\n", "*1\r\n:0\r\n", "*4\r\n:0\r\n:9\r\n:5000\r\n:9\r\n", "*3\r\n:3\r\n:2\r\n:0\r\n",
        "*3\r\n:3\r\n:-1\r\n:0\r\n", "*2\r\n:2\r\n:0\r\n", "*2\r\n:5\r\n:0\r\n"}) {
    EXPECT_FALSE(all(bytes)) << bytes;
  }
}

TEST(RedisReplies, Amended) {
  const auto amended = [](const std::string& bytes) { return parse_amended(reply_of(bytes)); };
  EXPECT_TRUE(std::holds_alternative<Amended>(amended(":1\r\n").value()));
  EXPECT_EQ(std::get<Gone>(amended(":-1\r\n").value()).reason, GoneReason::taken);
  EXPECT_EQ(std::get<Gone>(amended(":-2\r\n").value()).reason, GoneReason::broken);
  EXPECT_EQ(std::get<Failed>(amended(":-3\r\n").value()).code, errc::invalid_options);
  EXPECT_FALSE(amended(":0\r\n"));
  EXPECT_FALSE(amended("+OK\r\n"));
}

TEST(RedisReplies, ManyHolders) {
  const auto two = parse_broken(
      reply_of("*2\r\n:900\r\n" + array_of(2 * holder_size, holder_fields() + holder_fields())));
  ASSERT_EQ(std::get<BreakDone>(two.value()).holders.size(), 2U);
  expect_the_holder(std::get<BreakDone>(two.value()).holders[1]);
  EXPECT_TRUE(
      std::get<BreakDone>(parse_broken(reply_of("*2\r\n:-2\r\n*0\r\n")).value()).holders.empty());
  EXPECT_EQ(
      std::get<BreakDone>(parse_broken(reply_of("*2\r\n:-1\r\n*0\r\n")).value()).holders.size(), 1U)
      << "somebody who is not of holdfast";
  EXPECT_FALSE(parse_broken(reply_of("*2\r\n:5\r\n*1\r\n+x\r\n")));
}

TEST(RedisReplies, Inspected) {
  std::string waiter = bulk(owner_a);
  for (const char* field : {"250", "42", "host", "note", "shared", "3", "5"}) {
    waiter += bulk(field);
  }
  const auto view =
      parse_inspected(reply_of("*4\r\n" + bulk("80") + ":900\r\n" +
                               array_of(holder_size, holder_fields()) + array_of(8, waiter)),
                      "a");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->last_fence, Fence{80});
  expect_the_holder(view->holders.at(0));
  const Waiter& waiting = view->waiters.at(0);
  EXPECT_EQ(waiting.mode, Mode::shared);
  EXPECT_EQ(waiting.permits, 3U);
  EXPECT_EQ(waiting.limit, 5U);
  EXPECT_EQ(waiting.waiting_for, 250ms);
  EXPECT_EQ(waiting.who, (Who{"host", 42, "note"}));
}

TEST(RedisReplies, ShapesThatCannotBeAreNotGuessed) {
  for (const char* bytes :
       {":1\r\n", "+OK\r\n", "*0\r\n", "*1\r\n:0\r\n", "*2\r\n:0\r\n:5\r\n",
        "*3\r\n:0\r\n:0\r\n:5000\r\n", "*4\r\n:0\r\n:5\r\n:5000\r\n:6\r\n",
        "*4\r\n:0\r\n:5\r\n:5000\r\n:0\r\n", "*4\r\n:2\r\n:5\r\n:5\r\n:5\r\n", "*2\r\n:7\r\n:5\r\n",
        "*2\r\n$1\r\n0\r\n:5\r\n", "*1\r\n:3\r\n", "$-1\r\n"}) {
    EXPECT_FALSE(acquired(bytes)) << bytes;
  }
  EXPECT_FALSE(parse_renewed(reply_of("*1\r\n:5\r\n"), 2));
  EXPECT_FALSE(parse_renewed(reply_of("*1\r\n+x\r\n"), 1));
  EXPECT_FALSE(parse_withdrawn(reply_of("+OK\r\n")));
  EXPECT_FALSE(parse_broken(reply_of(":1\r\n")));
  EXPECT_FALSE(parse_inspected(reply_of("*2\r\n:1\r\n:1\r\n"), "a"));
}

TEST(RedisReplies, Renewed) {
  const auto replies = parse_renewed(reply_of("*4\r\n:5000\r\n:-1\r\n:-2\r\n:0\r\n"), 4).value();
  EXPECT_EQ(std::get<Renewed>(replies.at(0)).ttl, 5s);
  EXPECT_EQ(std::get<Gone>(replies.at(1)).reason, GoneReason::taken);
  EXPECT_EQ(std::get<Gone>(replies.at(2)).reason, GoneReason::broken);
  EXPECT_EQ(std::get<Renewed>(replies.at(3)).ttl, 0s);
}

}  // namespace
}  // namespace holdfast::redis
