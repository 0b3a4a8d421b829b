#include <holdfast/claim.hpp>

#include <gtest/gtest.h>

namespace holdfast {
namespace {

TEST(Names, C44_TheseMayBeLocked) {
  for (const std::string name : {"a",
                                 "a/b",
                                 "a/b/c",
                                 "/a",
                                 "a/",
                                 "//",
                                 ".",
                                 "..",
                                 "a b",
                                 " ",
                                 "a ",
                                 "\xc3\xa4",
                                 "a\xcc\x88",
                                 "\xf0\x9f\x94\x92",
                                 "%2F",
                                 "{x}y",
                                 "a{b}c{d}",
                                 "{x}{x}",
                                 "x{ }",
                                 "*",
                                 "?",
                                 "'; DROP",
                                 "__",
                                 "a:lock",
                                 "a:fence",
                                 "\\",
                                 "\"",
                                 "~",
                                 "\xf4\x8f\xbf\xbf",
                                 "\xef\xbf\xbd"}) {
    EXPECT_EQ(why_invalid_name(name), "") << name;
    EXPECT_TRUE(valid_name(name)) << name;
  }
  EXPECT_TRUE(valid_name(std::string(255, 'x')));
}

void expect_refused(std::string_view name, const std::string& because) {
  EXPECT_NE(why_invalid_name(name).find(because), std::string::npos)
      << "'" << name << "': " << why_invalid_name(name);
  EXPECT_FALSE(valid_name(name));
}

TEST(Names, C44_TheseMayNot) {
  expect_refused("", "empty");
  expect_refused(std::string(256, 'x'), "256 bytes");
  expect_refused(std::string(65536, 'x'), "65536 bytes");
  expect_refused(std::string(1 << 20, 'x'), "1048576 bytes");
  expect_refused("a\nb", "control");
  expect_refused(std::string_view{"\0", 1}, "control");
  expect_refused(std::string_view{"a\0b", 3}, "control");
  expect_refused("\x1f", "control");
  expect_refused("\x7f", "control");
  expect_refused("\xc2\x80", "control");
  expect_refused("\xc2\x9f", "control");
  EXPECT_TRUE(valid_name("\xc2\xa0"));
}

TEST(Names, C44_BracesAreClosedFilledAndFlat) {
  expect_refused("{", "never closed");
  expect_refused("a{b", "never closed");
  expect_refused("}", "without a '{'");
  expect_refused("}{", "without a '{'");
  expect_refused("a{b}c}", "without a '{'");
  expect_refused("{}", "empty braces");
  expect_refused("a{}b", "empty braces");
  expect_refused("{a{b}}", "inside braces");
  expect_refused("{{a}}", "inside braces");
}

TEST(Names, C44_BrokenUtf8) {
  for (const std::string_view name : {"\x80",  // a continuation without a start
                                      "\xff",
                                      "\xfe",              // never bytes of UTF-8
                                      "\xc0\x80",          // overlong
                                      "\xc1\xbf",          // overlong
                                      "\xe0\x9f\xbf",      // overlong
                                      "\xf0\x8f\xbf\xbf",  // overlong
                                      "\xed\xa0\x80",      // a surrogate
                                      "\xed\xbf\xbf",      // a surrogate
                                      "\xf4\x90\x80\x80",  // above U+10FFFF
                                      "\xf5\x80\x80\x80",  // above U+10FFFF
                                      "\xc3",              // cut off
                                      "a\xe2\x82",         // cut off
                                      "\xf0\x9f\x94",      // cut off
                                      "\xc3(",             // a wrong continuation
                                      "\xe2(\xa1",
                                      "\xe2\x82(",
                                      "\xf0(\x8c\xbc",
                                      "\xf0\x90(\xbc",
                                      "\xf0\x90\x8c("}) {
    expect_refused(name, "UTF-8");
  }
}

TEST(Owners, TextAndBack) {
  OwnerId owner;
  for (std::size_t i = 0; i < owner.bytes.size(); ++i) {
    owner.bytes[i] = static_cast<std::uint8_t>(0xf0U + i);
  }
  EXPECT_EQ(owner.text(), "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
  EXPECT_EQ(OwnerId::parse(owner.text()), owner);
  EXPECT_EQ(OwnerId{}.text(), std::string(32, '0'));
}

TEST(Owners, OnlyTheirOwnText) {
  for (const char* text :
       {"", "0", "0000000000000000000000000000000", "000000000000000000000000000000000",
        "F0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "g0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        " 0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "0xf1f2f3f4f5f6f7f8f9fafbfcfdfeff"}) {
    EXPECT_FALSE(OwnerId::parse(text)) << text;
  }
}

}  // namespace
}  // namespace holdfast
