#include "store/redis/resp.hpp"

#include "store/redis/request.hpp"
#include "store/redis/sha1.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace holdfast::redis {
namespace {

using namespace std::string_literals;

std::optional<Reply> read_one(RespReader& reader, std::string_view bytes) {
  reader.feed(bytes);
  return reader.next();
}

TEST(Resp, CommandsAreArraysOfBulkStrings) {
  EXPECT_EQ(encode({"SET", "key", ""}), "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$0\r\n\r\n");
  EXPECT_EQ(encode({std::string_view{"a\0\r\n", 4}}), "*1\r\n$4\r\na\0\r\n\r\n"s);
}

TEST(Resp, ReadsEveryKindOfReply) {
  RespReader reader;
  EXPECT_EQ(read_one(reader, "+OK\r\n")->text(), "OK");
  EXPECT_EQ(read_one(reader, ":-42\r\n")->integer(), -42);
  EXPECT_EQ(read_one(reader, ":1796067301137649\r\n")->number(), 1796067301137649);
  EXPECT_EQ(read_one(reader, "$3\r\n123\r\n")->number(), 123);
  EXPECT_EQ(read_one(reader, "-ERR no\r\n")->error(), "ERR no");
  const auto nil = read_one(reader, "$-1\r\n");
  EXPECT_FALSE(nil->is_text() || nil->is_error() || nil->is_array());
  const auto array = read_one(reader, "*2\r\n:1\r\n*1\r\n$1\r\nx\r\n");
  ASSERT_EQ(array->size(), 2U);
  EXPECT_EQ(array->at(1).at(0).text(), "x");
  EXPECT_EQ(array->at(7).at(0).text(), "");
}

TEST(Resp, ReadsByteByByteAndManyAtOnce) {
  const std::string bytes = "*2\r\n$5\r\nab\r\nc\r\n:7\r\n+OK\r\n";
  RespReader reader;
  int replies = 0;
  for (const char byte : bytes) {
    reader.feed({&byte, 1});
    while (reader.next()) {
      ++replies;
    }
  }
  EXPECT_EQ(replies, 2);
  EXPECT_EQ(read_one(reader, bytes)->at(0).text(), "ab\r\nc");
  EXPECT_EQ(reader.next()->text(), "OK");
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.violated());
}

TEST(Resp, FindsANestedError) {
  RespReader reader;
  const auto reply = read_one(reader, "*2\r\n:1\r\n*2\r\n+x\r\n-WRONGTYPE deep\r\n");
  EXPECT_TRUE(reply->is_error());
  EXPECT_EQ(reply->error(), "WRONGTYPE deep");
}

void expect_violation(std::string_view bytes) {
  RespReader reader;
  reader.feed(bytes);
  while (reader.next()) {
  }
  EXPECT_TRUE(reader.violated()) << bytes.substr(0, 40);
  EXPECT_FALSE(reader.why().empty());
  reader.feed("+OK\r\n");
  EXPECT_FALSE(reader.next());
}

TEST(Resp, RefusesWhatIsNotRedis) {
  expect_violation("HTTP/1.1 400 Bad Request\r\n\r\n");
  expect_violation("\x15\x03\x03\x00\x02\x02\x46");
  expect_violation("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n");
}

TEST(Resp, RefusesHugeArrays) {
  expect_violation("*65537\r\n");
  expect_violation("*2147483647\r\n");
  expect_violation("*-7\r\n");
  expect_violation("*4611686018427387904\r\n:1\r\n:1\r\nx");
}

TEST(Resp, CountsElementsOverTheWholeReply) {
  std::string bytes = "*2\r\n";
  for (int i = 0; i < 2; ++i) {
    bytes += "*40000\r\n";
    for (int element = 0; element < 40'000; ++element) {
      bytes += ":1\r\n";
    }
  }
  expect_violation(bytes);
  RespReader reader;
  for (int i = 0; i < 3; ++i) {  // the count starts anew with each reply
    reader.feed(std::string_view{bytes}.substr(4, (bytes.size() - 4) / 2));
    ASSERT_TRUE(reader.next());
  }
}

TEST(Resp, RefusesAStringLongerThanTheBound) {
  RespReader reader;
  reader.feed("$1073741824\r\n");
  const std::string block(65'536, 'x');
  std::size_t fed = 0;
  while (!reader.violated() && fed < 4 * RespReader::unparsed_max) {
    reader.feed(block);
    fed += block.size();
    EXPECT_FALSE(reader.next());
  }
  EXPECT_TRUE(reader.violated());
  EXPECT_LE(fed, RespReader::unparsed_max + block.size());
}

TEST(Resp, NeverCrashesOnGarbage) {
  std::mt19937 random{7};
  const std::string alphabet = "*$:+-0123456789\r\n\r\n\r\nax\0\xff";
  for (int round = 0; round < 20'000; ++round) {
    RespReader reader;
    for (int piece = 0; piece < 4; ++piece) {
      std::string bytes;
      const std::size_t size = random() % 24;
      for (std::size_t i = 0; i < size; ++i) {
        bytes += alphabet[random() % alphabet.size()];
      }
      reader.feed(bytes);
      while (auto reply = reader.next()) {
        reply->number();
        reply->is_error();
      }
    }
  }
}

TEST(Resp, ScriptsAreNamedBySha1) {
  EXPECT_EQ(sha1(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(sha1("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(sha1(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(RedisRequest, IsTheSameAfterTheDigest) {
  const Script script{"return 1", sha1("return 1")};
  Request request = Request::of_script(script, 1);
  request.add("key").add_number(-5);
  std::string by_digest;
  request.write(by_digest);
  EXPECT_EQ(by_digest, encode({"EVALSHA", script.sha1, "1", "key", "-5"}));
  std::string in_full;
  request.write_in_full(in_full);
  EXPECT_EQ(in_full, encode({"EVAL", "return 1", "1", "key", "-5"}));
}

}  // namespace
}  // namespace holdfast::redis
