// C18 (1): eight jobs of one second each, started together under one lock.
#include "tests/chaos/command_test.hpp"
#include "tests/chaos/soak.hpp"

namespace holdfast::test {
namespace {

class C18Run : public CommandTest {};

TEST_P(C18Run, EightJobsOfASecond) {
  const auto start = boot_now();
  std::vector<std::unique_ptr<Process>> jobs;
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(
        std::make_unique<Process>(run({"-q", "--wait", "forever"}, {"/bin/sleep", "1"})));
  }
  for (const auto& job : jobs) {
    EXPECT_EQ(job->wait(20s), 0) << job->err();
  }
  const auto took = boot_now() - start;
  EXPECT_GE(took, 8s) << "they overlapped";
  EXPECT_LE(took, 9500ms);
  chaos::figure("C18 run ", GetParam(), ": eight_jobs_ms=", chaos::ms(took));
}

INSTANTIATE_TEST_SUITE_P(Stores, C18Run, command_stores, store_name);

}  // namespace
}  // namespace holdfast::test
