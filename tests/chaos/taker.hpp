// A lock_taker process and what it told so far.
//
//   Taker taker{store.url(), {"--name", "job", "--hold", "forever"}};
//   ASSERT_TRUE(taker.await("granted")) << taker.told();
//   taker.order("release");
#pragma once

#include "tests/support/process.hpp"
#include "tests/support/temp_dir.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::chaos {

struct TakerOptions {
  std::vector<std::string> before{};  // a program that starts it, with arguments: faketime, unshare
  std::vector<std::pair<std::string, std::string>> env{};
};

class Taker {
 public:
  Taker(const std::string& url, std::vector<std::string> arguments, TakerOptions options = {});
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;
  ~Taker();

  void order(const std::string& line);

  // True once a further line that starts with `word` was told; last() is that line.
  bool await(const std::string& word, std::chrono::nanoseconds patience = std::chrono::seconds{10});
  const std::string& last() const { return last_; }
  std::int64_t fence() const;  // of the last "granted"
  std::string owner() const;

  // Of the process: of what `before` started, if anything.
  test::Process& process() { return *process_; }
  pid_t pid() const { return process_->pid(); }
  std::string told() const { return process_->out() + process_->err(); }

 private:
  test::TempDir dir_{};
  int orders_ = -1;
  std::unique_ptr<test::Process> process_{};
  std::size_t seen_ = 0;  // how much of out() was looked at
  std::string last_{};
};

}  // namespace holdfast::chaos
