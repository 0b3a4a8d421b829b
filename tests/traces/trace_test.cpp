// Runs tests/traces/*.txt and compares what happened with what is written there. When a change is
// meant, HOLDFAST_UPDATE=1 writes it; the difference is then for a reviewer to read.
#include "test_paths.hpp"
#include "tests/traces/conversation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace holdfast::traces {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator{fs::path{HOLDFAST_SOURCE_DIR} / "tests/traces"}) {
    if (entry.path().extension() == ".txt") {
      found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

std::string read(const fs::path& file) {
  std::ifstream stream{file};
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The same conversation with what really happened under each `----`.
std::string replay(const std::string& text) {
  Conversation conversation;
  std::istringstream stream{text};
  std::string told;
  std::string command;
  bool in_answer = false;
  for (std::string line; std::getline(stream, line);) {
    if (line == "----") {
      told += "----\n" + conversation.run(command);
      in_answer = true;
    } else if (line.empty() || !in_answer) {
      in_answer = false;
      told += line + "\n";
      command = line;
    }
  }
  return told;
}

class Traces : public ::testing::TestWithParam<fs::path> {};

TEST_P(Traces, AreAsWritten) {
  const std::string written = read(GetParam());
  const std::string happened = replay(written);
  if (std::getenv("HOLDFAST_UPDATE") != nullptr) {
    std::ofstream{GetParam()} << happened;
    return;
  }
  EXPECT_NE(written.find("\n----\n"), std::string::npos) << "a conversation of no word";
  EXPECT_EQ(written, happened) << "HOLDFAST_UPDATE=1 writes what happened";
}

std::string title(const ::testing::TestParamInfo<fs::path>& trace) {
  std::string name = trace.param.stem().string();
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Conversations, Traces, ::testing::ValuesIn(files()), title);

TEST(TracesThemselves, AChangeIsSeen) {
  EXPECT_EQ(replay("wait A\n----\nwhatever\n"),
            "wait A\n----\n+0ms      store < acquire A, queue\n");
}

}  // namespace
}  // namespace holdfast::traces
