// The waiters of a name, in the order of their arrival.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view queue_lua = R"lua(
-- Wishes are kept as text, and so are the records of several holders: 13 fields, each followed by
-- US, and a rest of any bytes.
local TEXT = '^' .. string.rep('([^\31]*)\31', 13) .. '(.*)$'

-- What a waiter asked for. The rest is its run id, of run_size bytes, and its value. A waiter of an
-- older holdfast ends after `since`: it asks for the name alone.
local function read_wish(packed)
  local ttl, min_hold, max_hold, delay, client, pid, host, note, since, mode, permits, limit,
        run_size, rest = string.match(packed, TEXT)
  if not ttl then
    ttl, min_hold, max_hold, delay, client, pid, host, note, since =
        string.match(packed, '^' .. string.rep('([^\31]*)\31', 9))
    mode, permits, limit, run_size, rest = 'exclusive', '1', '0', 0, ''
  end
  return {ttl = ttl, min_hold = min_hold, max_hold = max_hold, delay = delay, client = client,
          pid = pid, host = host, note = note, since = since, mode = mode, permits = permits,
          limit = limit, run = string.sub(rest, 1, run_size),
          value = string.sub(rest, run_size + 1)}
end

local function leave(n, owner)
  call('ZREM', n.B, owner)
  call('HDEL', n.W, owner)
  return call('ZREM', n.Q, owner)
end

-- The first waiter that is alive, the end of its liveness, and what it asked for as text. Dead ones
-- before it lose their place.
local function living_head(n)
  while true do
    local head = call('ZRANGE', n.Q, 0, 0)[1]
    if not head then return nil end
    local deadline = tonumber(call('ZSCORE', n.B, head) or 0)
    local packed = call('HGET', n.W, head)
    if packed and deadline >= n.now then return head, deadline, packed end
    leave(n, head)
  end
end

-- Being told is a hint; the record is what counts.
local function tell(n, client, message) redis.pcall('PUBLISH', n.base .. client, message) end

-- Joins at the end, or is a beat of one that waits.
local function join(n, owner, claim, liveness)
  for _, dead in ipairs(call('ZRANGEBYSCORE', n.B, '-inf', '(' .. text(n.now), 'LIMIT', 0, 16)) do
    leave(n, dead)
  end
  if not call('ZSCORE', n.Q, owner) then
    local last = call('ZREVRANGE', n.Q, 0, 0, 'WITHSCORES')[2]
    call('HSET', n.W, owner, table.concat({claim.ttl, claim.min_hold, claim.max_hold, claim.delay,
         claim.client, claim.pid, claim.host, claim.note, text(n.now), claim.mode, claim.permits,
         claim.limit, text(#claim.run), claim.run .. claim.value}, US))
    call('ZADD', n.Q, text((last or 0) + 1), owner)
  end
  call('ZADD', n.B, text(n.now + liveness), owner)
  if call('PTTL', n.B) < liveness then  -- rarely: the keys outlive the longest liveness in them
    for _, key in ipairs({n.Q, n.B, n.W}) do
      call('PEXPIREAT', key, text(n.now + liveness + 60000))
    end
  end
end
)lua";

}  // namespace holdfast::redis
