// What a checker is: it hears every fact in order and objects when a promise is broken. One promise
// a checker, one checker a file (sim/checkers), one test a checker in which it objects.
#pragma once

#include "sim/fact.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sim {

struct Violation {
  std::string checker{};
  WorldTime at{};
  std::string what{};
};

class Checker {
 public:
  explicit Checker(std::string_view name) : name_(name) {}
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;
  virtual ~Checker() = default;

  virtual void hear(const Fact& fact, WorldTime now) = 0;

  // Whose word a fact of the store is: that of the primary of reign `speaking`, while reign
  // `latest` is the latest.
  void heed(std::size_t speaking, std::size_t latest) {
    reign_ = speaking;
    deposed_ = speaking < latest;
  }

  const std::string& name() const noexcept { return name_; }
  const std::vector<Violation>& violations() const noexcept { return violations_; }
  // What the design says cannot be promised, and how often it was seen.
  const std::map<std::string, std::uint64_t>& counts() const noexcept { return counts_; }

 protected:
  void object(WorldTime now, std::string what) {
    violations_.push_back({name_, now, std::move(what)});
  }
  void count(const std::string& what) { ++counts_[what]; }
  std::size_t reign() const noexcept { return reign_; }
  bool deposed() const noexcept { return deposed_; }  // a later primary has been made

 private:
  std::string name_;
  std::size_t reign_ = 0;
  bool deposed_ = false;
  std::vector<Violation> violations_{};
  std::map<std::string, std::uint64_t> counts_{};
};

}  // namespace holdfast::sim
