// Asked once a connection, before anything is granted: is this prefix in a format that we know, and
// which rights does this user lack?
#pragma once

#include <string_view>

namespace holdfast::redis {

// Answers the commands it may not call, and "&" if the wake-up channels are closed to it.
//
// Key rights are not judged here: every script declares its keys, so Redis checks them before a
// script runs. A user whose rights cover only some names is legitimate, and then no command passes
// with the sample key, which says nothing.
inline constexpr std::string_view probe_lua = R"lua(
local key, channel, format_key, format_known = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local missing = {}

-- Only a version that changes the layout writes the key. A user without a right to it sees nothing.
local format = redis.pcall('GET', format_key)
if type(format) == 'string' and (tonumber(format) or 0) > tonumber(format_known) then
  return redis.error_reply('HOLDFAST_FORMAT ' .. format)
end

if not redis.acl_check_cmd then  -- before Redis 7: only the channel can be tried without harm
  local answer = redis.pcall('PUBLISH', channel, '')
  if type(answer) == 'table' and answer.err then missing[1] = '&' end
  return missing
end

local keyed = {
  {'GET', key}, {'MGET', key}, {'SET', key, '1'}, {'DEL', key}, {'EXISTS', key}, {'PTTL', key},
  {'PEXPIREAT', key, '1'}, {'HSET', key, 'f', '1'}, {'HGET', key, 'f'}, {'HMGET', key, 'f'},
  {'HDEL', key, 'f'}, {'HLEN', key}, {'HVALS', key}, {'ZADD', key, '1', 'm'}, {'ZCARD', key},
  {'ZREM', key, 'm'}, {'ZRANGE', key, '0', '0'}, {'ZREVRANGE', key, '0', '0'},
  {'ZRANGEBYSCORE', key, '0', '1'}, {'ZSCORE', key, 'm'},
}
for _, command in ipairs(keyed) do
  if not redis.acl_check_cmd(unpack(command)) then missing[#missing + 1] = command[1] end
end
if #missing == #keyed then missing = {} end
if not redis.acl_check_cmd('TIME') then missing[#missing + 1] = 'TIME' end
if not redis.acl_check_cmd('EVALSHA', '0', '0') then missing[#missing + 1] = 'EVALSHA' end
for _, command in ipairs({{'PUBLISH', channel, ''}, {'SUBSCRIBE', channel}}) do
  if not redis.acl_check_cmd(unpack(command)) then missing[#missing + 1] = '&' .. command[1] end
end
return missing
)lua";

}  // namespace holdfast::redis
