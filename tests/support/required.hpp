// A test whose server is not installed skips, and says why; where HOLDFAST_REQUIRE names it
// ("memory,sqlite,redis"), it fails instead, so that a skip cannot go unseen for ever.
//
//   HOLDFAST_NEEDS("redis", RedisServer::installed(), "there is no redis-server in PATH");
#pragma once

#include <gtest/gtest.h>

#include <string_view>

namespace holdfast::test {

// Whether the comma-separated HOLDFAST_REQUIRE holds `what`.
bool is_required(std::string_view what);

}  // namespace holdfast::test

#define HOLDFAST_NEEDS(what, present, why)                                            \
  do {                                                                                \
    if (!(present)) {                                                                 \
      if (::holdfast::test::is_required(what)) FAIL() << "HOLDFAST_REQUIRE: " << why; \
      GTEST_SKIP() << why;                                                            \
    }                                                                                 \
  } while (false)
