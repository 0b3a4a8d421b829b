// The examples that need no server: they are not only compiled, they do what they say.
#include "test_paths.hpp"
#include "tests/support/process.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace holdfast::conformance {
namespace {

using namespace std::chrono_literals;

class Examples : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Of, Examples,
                         ::testing::Values("acquire_all", "asio", "async", "coroutine", "election",
                                           "recursive_mutex", "run_once", "semaphore",
                                           "shared_mutex"),
                         [](const auto& example) { return std::string{example.param}; });

TEST_P(Examples, EndWell) {
  const std::string program = std::string{HOLDFAST_BUILD_DIR} + "/bin/example_" + GetParam();
  if (!std::filesystem::exists(program)) {
    GTEST_SKIP() << "examples are not built (HOLDFAST_BUILD_EXAMPLES)";
  }
  test::ProcessOptions options;
  options.args = {program, "memory:"};
  test::Process example{options};
  EXPECT_EQ(example.wait(20s), 0) << example.out() << example.err();
  EXPECT_NE(example.out(), "");
}

}  // namespace
}  // namespace holdfast::conformance
