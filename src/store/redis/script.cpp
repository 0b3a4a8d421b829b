#include "store/redis/script.hpp"

#include "store/redis/scripts/acquire.lua.hpp"
#include "store/redis/scripts/break.lua.hpp"
#include "store/redis/scripts/common.lua.hpp"
#include "store/redis/scripts/inspect.lua.hpp"
#include "store/redis/scripts/probe.lua.hpp"
#include "store/redis/scripts/renew.lua.hpp"
#include "store/redis/scripts/withdraw.lua.hpp"
#include "store/redis/sha1.hpp"

#include <string_view>
#include <utility>

namespace holdfast::redis {

namespace {

Script make(std::string text) {
  std::string digest = sha1(text);
  return {std::move(text), std::move(digest)};
}

Script with_common(std::string_view body) { return make(std::string{common_lua}.append(body)); }

}  // namespace

const Scripts& scripts() {
  static const Scripts all{
      .acquire = with_common(acquire_lua),
      .renew = with_common(renew_lua),
      .withdraw = with_common(withdraw_lua),
      .break_name = with_common(break_lua),
      .inspect = with_common(inspect_lua),
      .probe = make(std::string{probe_lua}),
  };
  return all;
}

}  // namespace holdfast::redis
