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

// Any program with a right to write may have left it in the store.
TEST(HolderText, NothingInItSteersATerminalOrBreaksJson) {
  const Holder holder{.who = {.host = "\x1b[2Jhost", .pid = 7, .note = "bad \xff note"}};
  EXPECT_EQ(who_text(holder.who), "?[2Jhost, pid 7 (bad ? note)");
  EXPECT_NE(to_json(holder).dump().find("?[2Jhost"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::cli
