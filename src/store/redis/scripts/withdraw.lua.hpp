// Gives back whatever an owner has. Answers 1 (released) or 0 (nothing of ours was there).
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view withdraw_lua = R"lua(
local K, F, R, Q, B, W, G = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local owner, keep, gone, base = ARGV[1], ARGV[2] == '1', ARGV[3], ARGV[4]

local value = redis.pcall('GET', K)
local free, had, broken = value == false, 0, false
if value == owner then
  local rec = call('HMGET', R, 'owner', 'released', 'min_end', 'broken')
  local min_end = 0
  if keep and rec[1] == owner and rec[3] ~= '0' then
    local us, now = clock()
    if tonumber(rec[3]) > now then min_end = rec[3] end
  end
  if rec[1] ~= owner or rec[2] == '0' then
    had = 1
    broken = rec[4] == '1'
    if min_end ~= 0 then
      call('PEXPIREAT', K, min_end)
      call('PEXPIREAT', R, min_end)
      call('HSET', R, 'released', '1')
    else
      call('DEL', K, R)
      free = true
    end
  end
end
-- A broken holder that asked again waits behind itself. Nobody else both holds and waits.
if had == 0 or broken then had = math.max(had, leave(Q, B, W, owner)) end
-- After a write that needs no memory, so that a full server takes it too.
if gone ~= '0' then call('SET', G, '1', 'PX', gone) end
if free then hand_off(K, F, R, Q, B, W, base) end
return had
)lua";

}  // namespace holdfast::redis
