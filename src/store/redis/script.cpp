#include "store/redis/script.hpp"

#include "store/redis/scripts/acquire.lua.hpp"
#include "store/redis/scripts/acquire_all.lua.hpp"
#include "store/redis/scripts/alone.lua.hpp"
#include "store/redis/scripts/amend.lua.hpp"
#include "store/redis/scripts/base.lua.hpp"
#include "store/redis/scripts/break.lua.hpp"
#include "store/redis/scripts/grant.lua.hpp"
#include "store/redis/scripts/inspect.lua.hpp"
#include "store/redis/scripts/probe.lua.hpp"
#include "store/redis/scripts/queue.lua.hpp"
#include "store/redis/scripts/renew.lua.hpp"
#include "store/redis/scripts/serve.lua.hpp"
#include "store/redis/scripts/shared.lua.hpp"
#include "store/redis/scripts/view.lua.hpp"
#include "store/redis/scripts/withdraw.lua.hpp"
#include "store/redis/sha1.hpp"

#include <initializer_list>
#include <string_view>
#include <utility>

namespace holdfast::redis {

namespace {

Script make(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    text.append(part);
  }
  std::string digest = sha1(text);
  return {std::move(text), std::move(digest)};
}

// A script whose first words are the whole library.
Script with_all(std::string_view body) {
  return make({base_lua, grant_lua, queue_lua, alone_lua, shared_lua, serve_lua, view_lua, body});
}

}  // namespace

const Scripts& scripts() {
  static const Scripts all{
      .acquire = make({base_lua, grant_lua, acquire_free_lua, queue_lua, alone_lua,
                       acquire_held_lua, shared_lua, serve_lua, view_lua, acquire_lua}),
      .acquire_all = with_all(acquire_all_lua),
      .renew = with_all(renew_lua),
      .amend = with_all(amend_lua),
      .withdraw = make({base_lua, withdraw_alone_lua, grant_lua, queue_lua, withdraw_to_one_lua,
                        alone_lua, shared_lua, serve_lua, withdraw_lua}),
      .break_name = with_all(break_lua),
      .inspect = with_all(inspect_lua),
      .probe = make({probe_lua}),
  };
  return all;
}

}  // namespace holdfast::redis
