// `holdfast lab` on a port of its own, until the end of the test.
#pragma once

#include "test_paths.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/process.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

class Lab {
 public:
  explicit Lab(std::vector<std::string> options = {}) : child_({.args = with(std::move(options))}) {
    EXPECT_TRUE(eventually([&] { return child_.out().find("Ctrl-C") != std::string::npos; }))
        << child_.err();
    const std::string said = child_.out();
    const std::string start = "http://localhost:";
    const std::size_t at = said.find(start);
    if (at != std::string::npos) {
      port_ = std::stoi(said.substr(at + start.size()));
    }
  }

  Process& child() { return child_; }
  int port() const { return port_; }
  std::string url() const { return "http://localhost:" + std::to_string(port_) + "/"; }
  // In KiB, the most that it ever had.
  long most_memory() const {
    std::ifstream status{"/proc/" + std::to_string(child_.pid()) + "/status"};
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) {
        return std::stol(line.substr(6));
      }
    }
    return 0;
  }

 private:
  static std::vector<std::string> with(std::vector<std::string> options) {
    std::vector<std::string> all{HOLDFAST_COMMAND, "lab"};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }

  Process child_;
  int port_ = 0;
};

}  // namespace holdfast::test
