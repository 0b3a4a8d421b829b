#include <holdfast/error.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace holdfast {
namespace {

TEST(Error, SaysMessageAndDetailOnce) {
  const Error error{errc::invalid_url, "no such scheme"};
  EXPECT_STREQ(error.what(), "the store URL cannot be understood: no such scheme");
  EXPECT_EQ(error.detail(), "no such scheme");
  EXPECT_EQ(error.code(), errc::invalid_url);
  EXPECT_STREQ(Error(errc::busy, "").what(), "somebody else holds it");
}

TEST(Error, EachCodeHasOneConditionAndAWordOfItsOwn) {
  std::set<std::string> words;
  constexpr int last = static_cast<int>(errc::version_conflict);
  for (int value = static_cast<int>(errc::busy); value <= last; ++value) {
    const std::error_code code = make_error_code(static_cast<errc>(value));
    int matches = 0;
    for (const failure condition :
         {failure::not_acquired, failure::ownership_lost, failure::transient, failure::permanent}) {
      matches += code == condition ? 1 : 0;
    }
    EXPECT_EQ(matches, 1) << code.message();
    EXPECT_TRUE(words.insert(error_word(static_cast<errc>(value))).second) << code.message();
    EXPECT_NE(code.message(), "unknown holdfast error");
  }
}

}  // namespace
}  // namespace holdfast
