// Stands before the body of every script that may grant. The words are those of README.md.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view common_lua = R"lua(
-- Rules for every script here:
--  * Time is the server's (TIME); expiries are milliseconds, fences microseconds.
--  * Redis does not roll a failed script back, and under full memory it refuses only the first
--    write. So a grant writes the fence, then the record, then the lock: a failure in between
--    leaves the name free, never owned without a fence. Giving back begins with a write that needs
--    no memory, so that it works on a full server too.
--  * The lock key alone says who holds the name. The record counts only while its owner is the
--    lock's value; any other value belongs to some other Redis client and is never touched.
local call = redis.call
local US = '\31'
local FENCE_LIFE = 30 * 86400 * 1000
local FENCE_MAX = 9007199254740991  -- 2^53 - 1: beyond it Lua's numbers skip integers

local function text(number) return string.format('%.0f', number) end

-- now in microseconds and in milliseconds
local function clock()
  local t = call('TIME')
  local us = t[1] * 1000000 + t[2]
  return us, math.floor(us / 1000)
end

-- The next fence of a name: above the last one and not below the server's clock. Its key ends by
-- absolute time at fence + 30 days: whatever is granted after that is greater by the clock alone.
local function next_fence(F, last, us)
  local fence = us
  if last then
    last = tonumber(last)
    if not last then error('HOLDFAST_FENCE the last fence is not a number') end
    if last >= fence then fence = last + 1 end
  end
  if fence > FENCE_MAX then error('HOLDFAST_FENCE the fences of this name are used up') end
  call('SET', F, text(fence), 'PX', text((fence - us) / 1000 + FENCE_LIFE))
  return fence
end

-- When a record ends: `wanted`, but not after max_end (0: none) and not before min_end (0: none).
local function bounded(wanted, min_end, max_end)
  if max_end > 0 and wanted > max_end then wanted = max_end end
  if wanted < min_end then wanted = min_end end
  return wanted
end

-- How long the holder may trust a lease of `ttl`: max_end contains the lock delay, trust does not.
local function trust(ttl, delay, max_end, now)
  if max_end > 0 and max_end - delay - now < ttl then ttl = math.max(max_end - delay - now, 0) end
  return ttl
end

-- Writes a grant. `claim` is {ttl, min_hold, max_hold, lock_delay, client, pid, host, note};
-- `wanted` is the expiry before max_hold and, unless it is provisional, min_hold. Returns the fence
-- and max_end.
local function grant(K, F, R, last, us, now, owner, claim, wanted, provisional)
  local delay = tonumber(claim[4])
  local min_end, max_end = 0, 0
  if claim[2] ~= '0' then min_end = now + claim[2] end
  if claim[3] ~= '0' then max_end = now + claim[3] + delay end
  local expires = bounded(wanted, provisional and 0 or min_end, max_end)
  local fence = next_fence(F, last, us)
  call('HSET', R, 'owner', owner, 'fence', text(fence), 'since', text(now), 'delay', claim[4],
       'min_end', text(min_end), 'max_end', text(max_end), 'client', claim[5], 'pid', claim[6],
       'host', claim[7], 'note', claim[8], 'broken', '0', 'released', '0')
  call('PEXPIREAT', R, text(expires))
  call('SET', K, owner, 'PX', text(math.max(expires - now, 1)))
  return fence, max_end
end

local function leave(Q, B, W, owner)
  call('ZREM', B, owner)
  call('HDEL', W, owner)
  return call('ZREM', Q, owner)
end

-- The first waiter that is alive, the end of its liveness, and what it asked for. Dead ones before
-- it lose their place.
local function living_head(Q, B, W, now)
  while true do
    local head = call('ZRANGE', Q, 0, 0)[1]
    if not head then return nil end
    local deadline = tonumber(call('ZSCORE', B, head) or 0)
    local wish = call('HGET', W, head)
    if wish and deadline >= now then return head, deadline, wish end
    leave(Q, B, W, head)
  end
end

-- Grants a free name to the living waiter `head`, provisionally: until its liveness ends it must
-- ask or renew. Being told is a hint; the record is what counts.
local function give(K, F, R, Q, B, W, base, us, now, head, deadline, wish)
  local claim = {}
  for field in string.gmatch(wish, '([^\31]*)\31') do claim[#claim + 1] = field end
  local fence = grant(K, F, R, call('GET', F), us, now, head, claim, deadline + claim[4],
                      true)
  leave(Q, B, W, head)
  redis.pcall('PUBLISH', base .. claim[5], 'granted ' .. head .. ' ' .. text(fence))
end

-- Hands a free name to the next living waiter, if there is one. Protected: whatever is wrong with
-- the next grant (a fence key with a foreign value) must not make a finished release an error; the
-- waiters' own requests meet it and report it.
local function hand_off(K, F, R, Q, B, W, base)
  if not call('ZRANGE', Q, 0, 0)[1] then return end
  pcall(function()
    local us, now = clock()
    local head, deadline, wish = living_head(Q, B, W, now)
    if head then give(K, F, R, Q, B, W, base, us, now, head, deadline, wish) end
  end)
end
)lua";

}  // namespace holdfast::redis
