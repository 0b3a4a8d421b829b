#include "tests/support/overlap_log.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <stdexcept>
#include <utility>

namespace holdfast::test {

namespace {

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

OverlapLog::OverlapLog(const std::filesystem::path& file)
    : file_(file),
      descriptor_(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) {
    throw std::runtime_error{"cannot append to " + file.string()};
  }
}

OverlapLog::~OverlapLog() { close(descriptor_); }

void OverlapLog::enter(std::string_view id, std::int64_t fence) { append("enter", id, fence); }

void OverlapLog::leave(std::string_view id, std::int64_t fence) { append("leave", id, fence); }

// One write a line: O_APPEND keeps lines of several processes apart.
void OverlapLog::append(std::string_view what, std::string_view id, std::int64_t fence) {
  std::string line{what};
  line.append(" ").append(id).append(" ").append(std::to_string(fence));
  line.append(" ").append(std::to_string(monotonic_ns())).append("\n");
  if (write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::runtime_error{"cannot append to " + file_.string()};
  }
}

std::vector<OverlapLog::Interval> OverlapLog::intervals(std::int64_t open_lasts_ns) const {
  std::vector<Interval> done;
  std::map<std::pair<std::string, std::int64_t>, Interval> inside;
  std::ifstream lines{file_};
  std::string what;
  Interval seen;
  std::int64_t at = 0;
  std::int64_t last = 0;
  while (lines >> what >> seen.id >> seen.fence >> at) {
    last = std::max(last, at);
    const auto key = std::make_pair(seen.id, seen.fence);
    if (what == "enter") {
      seen.entered_ns = at;
      inside[key] = seen;
    } else if (const auto entered = inside.find(key); entered != inside.end()) {
      entered->second.left_ns = at;
      done.push_back(entered->second);
      inside.erase(entered);
    }
  }
  for (auto& [key, left_open] : inside) {
    left_open.open = true;
    const std::int64_t room = last - left_open.entered_ns;
    left_open.left_ns = left_open.entered_ns + std::min(room, open_lasts_ns);
    done.push_back(left_open);
  }
  std::ranges::sort(done, {}, &Interval::entered_ns);
  return done;
}

std::string OverlapLog::check(std::int64_t open_lasts_ns, std::size_t together) const {
  const auto text = [](const Interval& i) {
    return i.id + " (fence " + std::to_string(i.fence) + ", from " + std::to_string(i.entered_ns) +
           " to " + std::to_string(i.left_ns) + ")";
  };
  std::vector<Interval> inside;
  std::int64_t last_fence = 0;
  for (const Interval& now : intervals(open_lasts_ns)) {
    std::erase_if(inside, [&](const Interval& i) { return i.left_ns <= now.entered_ns; });
    inside.push_back(now);
    if (inside.size() > together) {
      return "inside together: " + text(inside.front()) + " and " + text(now);
    }
    if (together == 1 && now.fence <= last_fence) {
      return "the fence did not rise: " + text(now) + " after " + std::to_string(last_fence);
    }
    last_fence = now.fence;
  }
  return {};
}

}  // namespace holdfast::test
