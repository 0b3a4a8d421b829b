// A child process under test: arguments, environment, directory, what it wrote, how it ended.
//
//   Process child({.args = {"/bin/sh", "-c", "echo hi; exit 3"}});
//   EXPECT_EQ(child.wait(), 3);
//   EXPECT_EQ(child.out(), "hi\n");
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

struct ProcessOptions {
  std::vector<std::string> args{};                         // args[0] is looked up in PATH
  std::vector<std::pair<std::string, std::string>> env{};  // added to ours; may replace
  std::vector<std::string> unset{};                        // taken from ours
  std::string directory{};                                 // empty: ours
  std::string input{};                                     // what it reads from stdin
  bool own_group = false;  // a process group of its own, ended as a whole by the destructor
};

class Process {
 public:
  explicit Process(ProcessOptions options);  // throws std::system_error
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // kills it if it still runs

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) noexcept;  // of this process only; no effect once it was waited for
  bool running();

  // The exit code as a shell tells it (128 + n when signal n ended it); none when it still runs at
  // the deadline. May be asked again.
  std::optional<int> wait(std::chrono::nanoseconds patience = std::chrono::seconds{30});

  std::string out() const;  // all it (and its children) wrote so far
  std::string err() const;

 private:
  pid_t pid_ = -1;
  int handle_ = -1;  // pidfd
  int out_ = -1;
  int err_ = -1;
  bool own_group_ = false;
  std::optional<int> ended_{};
};

// Runs it to its end. For tools that a test needs (openssl); throws std::runtime_error with what it
// wrote when it fails.
std::string run_tool(std::vector<std::string> args, const std::string& directory = {});

bool is_in_path(const std::string& program);

}  // namespace holdfast::test
