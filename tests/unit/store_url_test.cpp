#include "base/store_url.hpp"

#include <gtest/gtest.h>

#include <holdfast/error.hpp>

namespace holdfast {
namespace {

using Host = StoreUrl::Host;

// What the refusal of `text` says; empty when it is accepted.
std::string refusal(std::string_view text) {
  try {
    StoreUrl::parse(text);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), errc::invalid_url);
    return error.detail();
  }
}

TEST(StoreUrl, TakesApartEveryPart) {
  const StoreUrl url =
      StoreUrl::parse("redis://app:s%2Fcr%40et@db1:6380/2?prefix=lock:&op_timeout=2s");
  EXPECT_EQ(url.scheme, "redis");
  EXPECT_EQ(url.user, "app");
  EXPECT_EQ(url.password, "s/cr@et");
  EXPECT_EQ(url.hosts, (std::vector<Host>{{.name = "db1", .port = 6380}}));
  EXPECT_EQ(url.path, "/2");
  ASSERT_EQ(url.query.size(), 2U);
  EXPECT_EQ(url.query[0], (std::pair<std::string, std::string>{"prefix", "lock:"}));
  EXPECT_EQ(*url.option("op_timeout"), "2s");
  EXPECT_EQ(url.option("tls_ca"), nullptr);
}

TEST(StoreUrl, FilesAndMemoryHaveNoHost) {
  const StoreUrl file = StoreUrl::parse("sqlite:///var/lib/a%20b@c/locks.db");
  EXPECT_TRUE(file.hosts.empty());
  EXPECT_EQ(file.path, "/var/lib/a b@c/locks.db");
  EXPECT_EQ(StoreUrl::parse("memory:NAME").path, "NAME");
  EXPECT_EQ(StoreUrl::parse("memory:").path, "");
  const StoreUrl socket = StoreUrl::parse("redis+unix://app@/run/redis.sock?db=3");
  EXPECT_EQ(socket.scheme, "redis+unix");
  EXPECT_EQ(socket.user, "app");
  EXPECT_TRUE(socket.hosts.empty());
  EXPECT_EQ(socket.path, "/run/redis.sock");
  EXPECT_TRUE(StoreUrl::parse("redis://").hosts.empty());
}

TEST(C24, EveryWayToWriteAnIpv6Address) {
  const auto hosts = [](const char* text) { return StoreUrl::parse(text).hosts; };
  EXPECT_EQ(hosts("redis://[::1]:6379/2"), (std::vector<Host>{{.name = "::1", .port = 6379}}));
  EXPECT_EQ(hosts("redis://[::1]"), (std::vector<Host>{{.name = "::1", .port = {}}}));
  EXPECT_EQ(hosts("redis://::1"), (std::vector<Host>{{.name = "::1", .port = {}}}));
  EXPECT_EQ(hosts("redis://::1/0"), (std::vector<Host>{{.name = "::1", .port = {}}}));
  EXPECT_EQ(hosts("redis://fe80::1234"), (std::vector<Host>{{.name = "fe80::1234", .port = {}}}));
  EXPECT_EQ(hosts("redis://fe80::1%lo"), (std::vector<Host>{{.name = "fe80::1%lo", .port = {}}}));
  EXPECT_EQ(hosts("redis://[fe80::1%lo]:6379"),
            (std::vector<Host>{{.name = "fe80::1%lo", .port = 6379}}));
  EXPECT_EQ(hosts("redis://[fe80::1%25lo]:6379"),
            (std::vector<Host>{{.name = "fe80::1%lo", .port = 6379}}));
  EXPECT_EQ(hosts("etcd://[::1]:1,127.0.0.1:2,db.example,::1"),
            (std::vector<Host>{{.name = "::1", .port = 1},
                               {.name = "127.0.0.1", .port = 2},
                               {.name = "db.example", .port = {}},
                               {.name = "::1", .port = {}}}));
}

TEST(C24, AMalformedUrlIsRefusedWithTheOffendingPartNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"redis", "no scheme"},
      {"/tmp/locks.db", "no scheme"},
      {"Redis://h", "scheme"},
      {"://h", "scheme"},
      {"redis://h:0", "port \"0\""},
      {"redis://h:", "port \"\""},
      {"redis://h:65536", "port \"65536\""},
      {"redis://h:6379x", "port of host \"h\""},
      {"redis://:6379", "a host is empty"},
      {"redis://a,,b", "a host is empty"},
      {"redis://a,", "ends with a comma"},
      {"redis://[::1", "no closing bracket"},
      {"redis://[::1]6379", "\"6379\" follows the brackets"},
      {"redis://[::g]:1", "\"::g\" in brackets"},
      {"redis://[fe80::1%]:1", "zone"},
      {"redis://::1:6379", "could mean two things"},
      {"redis://a:b:c", "too many colons"},
      {"redis://127.0.0.256", "not an IPv4 address"},
      {"redis://127.1", "not an IPv4 address"},
      {"redis://h!", "host \"h!\""},
      {"redis://h/%zz", "the path"},
      {"redis://h/%00", "zero byte"},
      {"redis://h?prefix", "\"prefix\""},
      {"redis://h?=x", "form key=value"},
      {"redis://h?a=1&a=2", "\"a\" is given twice"},
      {"redis://h/0#x", "\"#\""},
      {"redis://h /0", "space"},
  };
  for (const auto& [text, part] : cases) {
    const std::string why = refusal(text);
    EXPECT_NE(why.find(part), std::string::npos) << text << ": " << why;
  }
}

TEST(StoreUrl, NeverTellsThePassword) {
  const StoreUrl url =
      StoreUrl::parse("rediss://app:s3cret@[::1]:6379,h/0?tls_ca=/a/b&password=s3cret");
  EXPECT_EQ(url.text_without_password(), "rediss://app@[::1]:6379,h/0?tls_ca=/a/b");
  for (const char* text :
       {"redis://app:s3cret/x@h:6379", "redis://app:s3cret?x@h", "redis://app:s3cret#x@h",
        "redis://app:s3cret@h:x", "redis://app:s3cret%zz@h", "redis://:s3cret@",
        "redis://app:s3cret", "redis://app:6379?s3cret@h", "redis://app:6379?a&s3cret=@h",
        "redis://app:6379/s3cret@h", "redis://app:6379/s3cret?x@h:1/0"}) {
    EXPECT_EQ(refusal(text).find("s3cret"), std::string::npos) << refusal(text);
  }
}

TEST(StoreUrl, TextWithoutPasswordReadsBackEqual) {
  for (const char* text : {"sqlite:///var/a%20b%23c/locks.db", "memory:NAME", "memory:",
                           "redis://u%3Ax@h:1/0?prefix=a%26b", "redis+unix:///run/redis.sock",
                           "redis://[fe80::1%lo]:6379", "redis://h"}) {
    const StoreUrl url = StoreUrl::parse(text);
    EXPECT_EQ(url.text_without_password(), text);
  }
}

}  // namespace
}  // namespace holdfast
