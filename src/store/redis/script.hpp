// The Lua scripts of the store, by the digest that EVALSHA wants.
#pragma once

#include <string>

namespace holdfast::redis {

struct Script {
  std::string text;
  std::string sha1;  // 40 lower-case hex digits
};

// Made once, at the first call; thread-safe.
struct Scripts {
  Script acquire;
  Script acquire_all;
  Script renew;
  Script amend;
  Script withdraw;
  Script break_name;
  Script inspect;
  Script probe;
};
const Scripts& scripts();

}  // namespace holdfast::redis
