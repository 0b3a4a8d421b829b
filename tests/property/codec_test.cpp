// What is written is read back, and what is not valid is refused, for texts that nobody thought of.
#include <holdfast/claim.hpp>
#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "base/hex.hpp"
#include "base/percent.hpp"
#include "base/store_url.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cctype>

namespace holdfast {
namespace {

// Any bytes but the zero byte, which no URL part may hold.
std::string some_bytes() {
  return *rc::gen::container<std::string>(
      rc::gen::map(rc::gen::inRange(1, 256), [](int byte) { return static_cast<char>(byte); }));
}

RC_GTEST_PROP(Codec, HexIsReadBack, (const std::vector<std::uint8_t>& bytes)) {
  std::vector<std::uint8_t> read(bytes.size());
  RC_ASSERT(from_hex(to_hex(bytes), read));
  RC_ASSERT(read == bytes);
}

RC_GTEST_PROP(Codec, AnOwnerIsReadBackAndNothingElseIsAnOwner, (const std::string& noise)) {
  OwnerId owner;
  for (std::uint8_t& byte : owner.bytes) {
    byte = *rc::gen::arbitrary<std::uint8_t>();
  }
  RC_ASSERT(OwnerId::parse(owner.text()) == owner);
  const auto parsed = OwnerId::parse(noise);
  RC_ASSERT(!parsed || noise.size() == 32);
}

RC_GTEST_PROP(Codec, PercentEncodingIsReadBack, ()) {
  const std::string bytes = some_bytes();
  const std::string text = percent_encode(bytes, "/");
  RC_ASSERT(percent_decode(text) == bytes);
  RC_ASSERT(std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 127; }));
}

RC_GTEST_PROP(Codec, AUrlIsReadBackWithoutItsPassword, ()) {
  StoreUrl url;
  url.scheme = "redis";
  url.user = some_bytes();
  url.hosts.push_back({.name = "db1", .port = 6379});
  url.path = "/0";
  const std::string password = "p" + some_bytes();
  const std::string text = "redis://" + percent_encode(url.user, "") + ":" +
                           percent_encode(password, "") + "@db1:6379/0";
  const StoreUrl parsed = StoreUrl::parse(text);
  RC_ASSERT(parsed.user == url.user);
  RC_ASSERT(parsed.password == password);
  const StoreUrl again = StoreUrl::parse(parsed.text_without_password());
  RC_ASSERT(again.password.empty());
  RC_ASSERT(again.user == url.user);
  RC_ASSERT(again.hosts == url.hosts);
  RC_ASSERT(again.path == url.path);
}

RC_GTEST_PROP(Codec, NoUrlBringsTheParserDown, ()) {
  const std::string text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string{"redis:/@?&=%[]0123456789abc,.#-_"}));
  try {
    const StoreUrl url = StoreUrl::parse(text);
    RC_ASSERT(!url.scheme.empty());
  } catch (const Error& error) {
    RC_ASSERT(error.code() == errc::invalid_url);
  }
}

RC_GTEST_PROP(Codec, WholeDurationsAreReadExactly, ()) {
  using namespace std::chrono_literals;
  const auto [unit, one] = *rc::gen::elementOf(std::vector<std::pair<std::string, Duration>>{
      {"ns", 1ns}, {"us", 1us}, {"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"h", 1h}, {"d", 24h}});
  // Up to 104 days to the nanosecond: what a double holds.
  const auto count = *rc::gen::inRange<std::int64_t>(0, (std::int64_t{1} << 53) / one.count());
  const std::optional<Duration> parsed = parse_duration(std::to_string(count) + unit);
  RC_ASSERT(parsed == count * one);
}

RC_GTEST_PROP(Codec, NoDurationIsNegativeOrOutOfNothing, (const std::string& noise)) {
  const std::optional<Duration> parsed = parse_duration(noise);
  RC_ASSERT(!parsed || *parsed >= Duration{0});
  RC_ASSERT(!parsed || std::isdigit(static_cast<unsigned char>(noise.front())) != 0);
}

RC_GTEST_PROP(Codec, AnAcceptedNameHasClosedFlatBracesOnly, ()) {
  const std::string name =
      *rc::gen::container<std::string>(rc::gen::elementOf(std::string{"ab{}\x01\x7f\xc3\xa4"}));
  bool open = false;
  bool empty_tag = false;
  bool flat = true;
  char before = 0;
  for (const char c : name) {
    flat = flat && !(c == '{' && open) && !(c == '}' && !open);
    empty_tag = empty_tag || (c == '}' && before == '{');
    open = c == '{' || (open && c != '}');
    before = c;
  }
  if (valid_name(name)) {
    RC_ASSERT(flat && !open && !empty_tag);
    RC_ASSERT(!name.empty() && name.size() <= name_size_max);
    RC_ASSERT(std::none_of(name.begin(), name.end(), [](char c) { return c == 1 || c == 127; }));
  }
}

}  // namespace
}  // namespace holdfast
