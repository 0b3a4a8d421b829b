// A headless Chromium with one page, told what to do over a pipe (the DevTools protocol).
//
//   Browser browser;
//   browser.open("http://localhost:8080/");
//   browser.press("ArrowRight");
//   EXPECT_EQ(browser.text("#clock"), "0.050 s");
//
// Throws std::runtime_error when the browser does not answer, or a script fails.
#pragma once

#include "tests/support/temp_dir.hpp"

#include <nlohmann/json.hpp>

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace holdfast::test {

class Browser {
 public:
  static bool installed();
  static constexpr const char* how_to_install = "there is no chromium (apt: chromium)";

  Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser();

  void open(const std::string& url);  // until its scripts have run
  void resize(int width, int height);
  // The value of a JavaScript expression; a promise is awaited.
  nlohmann::json value(const std::string& expression);
  std::string text(const std::string& selector);  // of one element
  void click(const std::string& selector);
  void press(const std::string& key, bool shift = false);

  // What went wrong on the page since it was last asked: exceptions, what is missing, refusals by
  // the policy. That the lab refuses what it was asked for (400) is none.
  std::vector<std::string> take_complaints() { return std::exchange(complaints_, {}); }

 private:
  nlohmann::json call(const std::string& method, nlohmann::json parameters);
  nlohmann::json next_message();
  void note(const nlohmann::json& event);

  TempDir profile_{};
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  int last_id_ = 0;
  std::string session_{};
  std::string received_{};
  std::vector<std::string> complaints_{};
};

}  // namespace holdfast::test
