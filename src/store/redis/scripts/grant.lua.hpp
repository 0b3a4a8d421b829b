// Fences, the end of a lease, and the grant of a name to one holder alone.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view grant_lua = R"lua(
local FENCE_LIFE = 30 * 86400 * 1000
local FENCE_MAX = 9007199254740991  -- 2^53 - 1: beyond it Lua's numbers skip integers

-- The next fence of a name: above the last one and not below the server's clock.
local function next_fence(n)
  if n.last == nil then n.last = call('GET', n.F) end
  local fence = n.us
  if n.last then
    local last = tonumber(n.last)
    if not last then error('HOLDFAST_FENCE the last fence is not a number') end
    if last >= fence then fence = last + 1 end
  end
  if fence > FENCE_MAX then error('HOLDFAST_FENCE the fences of this name are used up') end
  return fence
end

-- The key ends by absolute time at fence + 30 days: whatever is granted after that is greater by
-- the clock alone.
local function write_fence(n, fence)
  n.last = text(fence)
  call('SET', n.F, n.last, 'PX', text((fence - n.us) / 1000 + FENCE_LIFE))
end

-- When a record ends: `wanted`, but not after max_end (0: none) and not before min_end (0: none).
local function bounded(wanted, min_end, max_end)
  if max_end > 0 and wanted > max_end then wanted = max_end end
  if wanted < min_end then wanted = min_end end
  return wanted
end

-- Expiry, min_end and max_end of a new grant. `wanted` is the expiry before max_hold and, unless it
-- is provisional, min_hold.
local function bounds(n, claim, wanted, provisional)
  local min_end, max_end = 0, 0
  if claim.min_hold ~= '0' then min_end = n.now + claim.min_hold end
  if claim.max_hold ~= '0' then max_end = n.now + claim.max_hold + claim.delay end
  return bounded(wanted, provisional and 0 or min_end, max_end), min_end, max_end
end

-- How long the holder may trust a lease of `ttl`: max_end contains the lock delay, trust does not.
local function trust(ttl, delay, max_end, now)
  if max_end > 0 and max_end - delay - now < ttl then ttl = math.max(max_end - delay - now, 0) end
  return ttl
end

-- Returns the fence and max_end. Precondition: the name is free.
local function grant_alone(n, owner, claim, wanted, provisional)
  local expires, min_end, max_end = bounds(n, claim, wanted, provisional)
  local fence = next_fence(n)
  write_fence(n, fence)
  call('HSET', n.R, 'owner', owner, 'fence', n.last, 'since', text(n.now), 'delay', claim.delay,
       'min_end', text(min_end), 'max_end', text(max_end), 'client', claim.client, 'pid', claim.pid,
       'host', claim.host, 'note', claim.note, 'broken', '0', 'released', '0', 'value', claim.value)
  call('PEXPIREAT', n.R, text(expires))
  call('SET', n.K, owner, 'PX', text(math.max(expires - n.now, 1)))
  return fence, max_end
end
)lua";

}  // namespace holdfast::redis
