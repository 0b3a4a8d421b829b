#include "store/redis/request.hpp"

#include "store/redis/resp.hpp"

#include <array>
#include <charconv>

namespace holdfast::redis {

Request Request::of_script(const Script& script, std::size_t keys) {
  Request request;
  request.script_ = &script;
  request.tail_.reserve(768);
  request.add_number(static_cast<std::int64_t>(keys));
  return request;
}

Request Request::of_command(std::string_view command) {
  Request request;
  request.add(command);
  return request;
}

Request& Request::add(std::string_view argument) {
  append_argument(tail_, argument);
  ++count_;
  return *this;
}

Request& Request::add_number(std::int64_t argument) {
  std::array<char, 24> digits{};
  const char* const end = std::to_chars(digits.begin(), digits.end(), argument).ptr;
  return add({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void Request::write(std::string& out) const {
  if (script_ == nullptr) {
    append_start(out, count_);
  } else {
    append_start(out, count_ + 2);
    append_argument(out, "EVALSHA");
    append_argument(out, script_->sha1);
  }
  out.append(tail_);
}

void Request::write_in_full(std::string& out) const {
  if (script_ == nullptr) {
    write(out);
    return;
  }
  append_start(out, count_ + 2);
  append_argument(out, "EVAL");
  append_argument(out, script_->text);
  out.append(tail_);
}

}  // namespace holdfast::redis
