// Where facts go: into the trace, to every checker, and into the counts of the report.
#pragma once

#include "sim/checker.hpp"
#include "sim/fact.hpp"
#include "sim/world.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::sim {

class History {
 public:
  explicit History(World& world) : world_(world) {}
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  ~History() = default;

  void add(std::unique_ptr<Checker> checker) { checkers_.push_back(std::move(checker)); }
  void record(const Fact& fact) { record(fact, reign_); }
  // What a primary of that reign says or does.
  void record(const Fact& fact, std::size_t reign);
  std::size_t reign() const noexcept { return reign_; }
  std::size_t begin_reign() { return ++reign_; }  // a replica becomes the primary
  void count(const std::string& what) { ++counts_[what]; }

  // In the order of time.
  std::vector<Violation> violations() const;
  // Of the checkers too.
  std::map<std::string, std::uint64_t> counts() const;
  bool objected() const;

 private:
  World& world_;
  std::size_t reign_ = 0;
  std::vector<std::unique_ptr<Checker>> checkers_{};
  std::map<std::string, std::uint64_t> counts_{};
};

}  // namespace holdfast::sim
