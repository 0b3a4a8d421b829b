// The command under test, on each store: `holdfast` as a user runs it.
//
//   class C36 : public CommandTest {};
//   TEST_P(C36, Name) { Process child{run({"-q"}, {"true"})}; EXPECT_EQ(child.wait(), 0); }
//   INSTANTIATE_TEST_SUITE_P(Stores, C36, command_stores, store_name);
#pragma once

#include "test_paths.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/process.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/required.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace holdfast::test {

using namespace std::literals;

inline const auto command_stores = ::testing::Values("sqlite", "redis");
inline std::string store_name(const ::testing::TestParamInfo<const char*>& info) {
  return info.param;
}

class CommandTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (GetParam() == "redis"sv) {
      HOLDFAST_NEEDS("redis", RedisServer::installed(), RedisServer::how_to_install);
      redis_ = std::make_unique<RedisServer>();
      url_ = redis_->url();
    } else {
      url_ = "sqlite://" + (folder_ / "locks.db").string();
    }
  }

  const std::string& url() const { return url_; }
  RedisServer& redis() { return *redis_; }
  const TempDir& folder() const { return folder_; }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  // holdfast ARGS... with this store, and without variables from outside.
  ProcessOptions command(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), HOLDFAST_COMMAND);
    ProcessOptions options;
    options.args = std::move(arguments);
    options.env = {{"HOLDFAST_STORE", url_}};
    options.directory = folder_.path().string();
    return options;
  }

  // holdfast run OPTIONS n -- COMMAND
  ProcessOptions run(std::vector<std::string> options, std::vector<std::string> job) const {
    std::vector<std::string> arguments{"run"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"n", "--"});
    arguments.insert(arguments.end(), job.begin(), job.end());
    return command(std::move(arguments));
  }
  ProcessOptions run_script(std::vector<std::string> options, const std::string& script) const {
    return run(std::move(options), {"/bin/sh", "-c", script});
  }

  std::string content(const std::string& name) const {
    std::ifstream stream{file(name)};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }

  bool exists(const std::string& name) const { return std::filesystem::exists(file(name)); }

  std::vector<pid_t> pids(const std::string& name = "pids") const {
    std::ifstream stream{file(name)};
    std::vector<pid_t> found;
    for (pid_t pid = 0; stream >> pid;) {
      found.push_back(pid);
    }
    return found;
  }

  // True when another run gets the lock at once.
  bool is_free() const {
    Process probe{run({"-q"}, {"true"})};
    return probe.wait() == 0;
  }

 private:
  TempDir folder_{};
  std::unique_ptr<RedisServer> redis_{};
  std::string url_{};
};

inline std::chrono::nanoseconds boot_now() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

}  // namespace holdfast::test
