// Latencies of one contender, and how they compare with the floor of the same run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::bench {

class Series {
 public:
  explicit Series(std::string name) : name_(std::move(name)) {}

  const std::string& name() const noexcept { return name_; }
  std::size_t size() const noexcept { return microseconds_.size(); }

  // Runs `step` once and keeps how long it took.
  template <class Step>
  void time(Step step) {
    const auto begin = std::chrono::steady_clock::now();
    step();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    microseconds_.push_back(took.count());
  }
  void add(double microseconds) { microseconds_.push_back(microseconds); }

  // `share` in [0, 1]: 0.5 is the median. Precondition: size() > 0.
  double quantile(double share) const {
    std::vector<double> sorted = microseconds_;
    const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size() - 1));
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
    return sorted[static_cast<std::size_t>(at)];
  }

 private:
  std::string name_;
  std::vector<double> microseconds_{};
};

// Runs the contenders in turn, in short blocks, so that a drift of the machine's speed hits all.
template <class... Steps>
void alternate(int blocks, int block_size, std::pair<Series&, Steps>... contenders) {
  const auto run = [&](auto& contender) {
    for (int i = 0; i < block_size; ++i) {
      contender.first.time(contender.second);
    }
  };
  for (int block = 0; block < blocks; ++block) {
    (run(contenders), ...);
  }
}

}  // namespace holdfast::bench
