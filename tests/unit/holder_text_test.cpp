// What people and programs are told of a holder.
#include "cli/holder_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace holdfast::cli {
namespace {

TEST(HolderText, SaysWhoAndWhy) {
  EXPECT_EQ(who_text({"db1", 7, "nightly \u00fc"}), "db1, pid 7 (nightly \u00fc)");
  EXPECT_EQ(who_text({}), "an unknown host");
}

TEST(HolderText, SaysInWhichWayItIsHeld) {
  Holder holder{.who = {.host = "db1", .pid = 7}, .held_for = std::chrono::seconds{5}};
  EXPECT_EQ(held_text(holder), "held by db1, pid 7 for 5s");
  EXPECT_EQ(to_json(holder)["mode"], "exclusive");
  EXPECT_FALSE(to_json(holder).contains("limit"));
  EXPECT_FALSE(to_json(holder).contains("value"));
  holder.mode = Mode::shared;
  EXPECT_EQ(held_text(holder), "held by db1, pid 7 for 5s, shared");
  EXPECT_EQ(to_json(holder)["mode"], "shared");
  holder.permits = 2;
  holder.limit = 5;
  holder.value = "10.0.0.7\x1b[2J";
  EXPECT_EQ(held_text(holder), "held by db1, pid 7 for 5s, 2 of 5 permits");
  EXPECT_EQ(to_json(holder)["permits"], 2);
  EXPECT_EQ(to_json(holder)["limit"], 5);
  EXPECT_EQ(to_json(holder)["value"], "10.0.0.7?[2J");
  EXPECT_EQ(plain_text(holder.value), "10.0.0.7?[2J");
}

// Any program with a right to write may have left it in the store.
TEST(HolderText, NothingInItSteersATerminalOrBreaksJson) {
  const Holder holder{.who = {.host = "\x1b[2Jhost", .pid = 7, .note = "bad \xff note"}};
  EXPECT_EQ(who_text(holder.who), "?[2Jhost, pid 7 (bad ? note)");
  EXPECT_NE(to_json(holder).dump().find("?[2Jhost"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::cli
