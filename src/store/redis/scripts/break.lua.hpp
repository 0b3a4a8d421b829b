// An operator takes the name away. Answers {} if nobody held it, else the holder as `inspect` does.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view break_lua = R"lua(
local K, F, R, Q, B, W = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local now_mode, base = ARGV[1] == '1', ARGV[2]

local value = call('GET', K)
local us, now = clock()
if not value then
  hand_off(K, F, R, Q, B, W, base)
  return {}
end
local reply = {call('PTTL', K)}
local rec = call('HMGET', R, 'owner', 'fence', 'since', 'pid', 'broken', 'released', 'host', 'note',
                 'client')
local ours = rec[1] == value
if ours then
  rec[3] = text(now - rec[3])
  for i = 1, 8 do reply[i + 1] = rec[i] end
elseif not now_mode then
  return redis.error_reply('HOLDFAST_FOREIGN another Redis client holds it')
end
if now_mode or rec[6] == '1' then
  call('DEL', K, R)
  hand_off(K, F, R, Q, B, W, base)
else
  call('HDEL', R, 'broken')  -- needs no memory, so that the next write passes on a full server
  call('HSET', R, 'broken', '1')
end
if ours and rec[6] == '0' then redis.pcall('PUBLISH', base .. rec[9], 'broken ' .. value) end
return reply
)lua";

}  // namespace holdfast::redis
