// One command on its way to Redis: EVALSHA of a script of ours, or a plain command.
//
//   Request request = Request::of_script(scripts().withdraw, 7);
//   request.add(key)…add(argument)…;
#pragma once

#include "store/redis/script.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::redis {

class Request {
 public:
  // `script` must outlive the request. The first `keys` arguments that follow are its keys.
  static Request of_script(const Script& script, std::size_t keys);
  static Request of_command(std::string_view command);

  Request& add(std::string_view argument);
  Request& add_number(std::int64_t argument);

  // Prefixed by ASKING: a node of a cluster takes it although the slot is not its own yet.
  Request& with_asking() {
    asking_ = true;
    in_full_ = true;  // ASKING counts for one command: there is no second try after NOSCRIPT
    return *this;
  }
  bool asking() const noexcept { return asking_; }

  // With the script's text at once: nobody may be there to hear that the server does not know it.
  Request& with_text() {
    in_full_ = true;
    return *this;
  }
  bool in_full() const noexcept { return in_full_; }

  bool is_script() const noexcept { return script_ != nullptr; }
  // Appends it as EVALSHA (a plain command: as it is).
  void write(std::string& out) const;
  // Appends it as EVAL with the text, for a server that answered NOSCRIPT.
  void write_in_full(std::string& out) const;

 private:
  const Script* script_ = nullptr;
  bool asking_ = false;
  bool in_full_ = false;
  std::size_t count_ = 0;  // arguments in tail_
  std::string tail_{};     // everything after the digest: the same for EVALSHA and EVAL
};

}  // namespace holdfast::redis
