// What the command says while it works: to standard error, one line each, never a password.
//
//   Messages messages{{.json = true}};
//   messages.say("busy", "payout is held by web1 (pid 4242)", {{"name", "payout"}});
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace holdfast::cli {

struct MessageOptions {
  bool json = false;     // one object a line instead of text
  bool quiet = false;    // nothing at all
  bool verbose = false;  // details as well; with json they are always there
};

// Thread-safe: each message is one write.
class Messages {
 public:
  using Fields = nlohmann::ordered_json;

  explicit Messages(MessageOptions options) noexcept : options_(options) {}

  // `event` is a stable word for scripts, `text` for people; `fields` is an object.
  void say(const char* event, const std::string& text, const Fields& fields) const noexcept;
  void say(const char* event, const std::string& text) const noexcept;
  void detail(const char* event, const std::string& text, const Fields& fields) const noexcept;

 private:
  MessageOptions options_;
};

// "holdfast: TEXT" on standard error; line feeds and other control characters are shown as blanks.
void print_error_line(const std::string& text) noexcept;

}  // namespace holdfast::cli
