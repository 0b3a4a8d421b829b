// The overlap check of the failure cases: every process (or thread) that believes it holds a lock
// appends when it enters and leaves to one local file; afterwards no two intervals of an exclusive
// lock may overlap. An interval ends when the product told its user that the lock was lost.
//
//   OverlapLog log{dir / "overlap.log"};
//   log.enter("A", fence); … log.leave("A", fence);
//   EXPECT_EQ(log.check(), "");
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

class OverlapLog {
 public:
  struct Interval {
    std::string id{};  // of who was inside: no white space
    std::int64_t fence = 0;
    std::int64_t entered_ns = 0;  // CLOCK_MONOTONIC
    std::int64_t left_ns = 0;     // the end of the log if it never left (killed)
    bool open = false;            // it never left
  };

  // Appends to `file`, which need not exist. Any number of processes and threads may do so.
  explicit OverlapLog(const std::filesystem::path& file);
  ~OverlapLog();
  OverlapLog(const OverlapLog&) = delete;
  OverlapLog& operator=(const OverlapLog&) = delete;

  void enter(std::string_view id, std::int64_t fence);
  void leave(std::string_view id, std::int64_t fence);

  // Sorted by entry. An entry without its leaving ends at `open_lasts_ns` after it, or at the
  // end of the log: who was killed is inside no longer than its TTL.
  std::vector<Interval> intervals(std::int64_t open_lasts_ns = INT64_MAX) const;

  // Empty, or a line for the first two that were inside together, or whose fences do not rise.
  // `together`: how many may be inside at once.
  std::string check(std::int64_t open_lasts_ns = INT64_MAX, std::size_t together = 1) const;

 private:
  void append(std::string_view what, std::string_view id, std::int64_t fence);

  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace holdfast::test
