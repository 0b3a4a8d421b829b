// The waiters of a name, in the order of their arrival.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view queue_lua = R"lua(
-- What a waiter asked for. The rest is its run id, of run_size bytes, and its value. A waiter of an
-- older holdfast ends after `since`: it asks for the name alone.
local WISH = {'ttl', 'min_hold', 'max_hold', 'delay', 'client', 'pid', 'host', 'note', 'since',
              'mode', 'permits', 'limit', 'run_size'}
local function unpack_wish(packed)
  local wish, rest = unpack_text(WISH, packed)
  local size = tonumber(wish.run_size or 0)
  wish.mode, wish.permits, wish.limit = wish.mode or 'exclusive', wish.permits or '1',
                                        wish.limit or '0'
  wish.run, wish.value = string.sub(rest, 1, size), string.sub(rest, size + 1)
  return wish
end

local function leave(n, owner)
  call('ZREM', n.B, owner)
  call('HDEL', n.W, owner)
  return call('ZREM', n.Q, owner)
end

-- The first waiter that is alive, the end of its liveness, and what it asked for. Dead ones before
-- it lose their place.
local function living_head(n)
  while true do
    local head = call('ZRANGE', n.Q, 0, 0)[1]
    if not head then return nil end
    local deadline = tonumber(call('ZSCORE', n.B, head) or 0)
    local packed = call('HGET', n.W, head)
    if packed and deadline >= n.now then return head, deadline, unpack_wish(packed) end
    leave(n, head)
  end
end

-- Joins at the end, or is a beat of one that waits.
local function join(n, owner, claim, liveness)
  for _, dead in ipairs(call('ZRANGEBYSCORE', n.B, '-inf', '(' .. text(n.now), 'LIMIT', 0, 16)) do
    leave(n, dead)
  end
  if not call('ZSCORE', n.Q, owner) then
    local last = call('ZREVRANGE', n.Q, 0, 0, 'WITHSCORES')[2]
    claim.since, claim.run_size = text(n.now), text(#claim.run)
    call('HSET', n.W, owner, pack(WISH, claim, claim.run .. claim.value))
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
