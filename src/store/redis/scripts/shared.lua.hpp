// Holders side by side: readers, or permits of a semaphore. Each has a record and an end of its
// own.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view shared_lua = R"lua(
-- A record is text, as a wish is (queue_lua).
local function read_record(n, owner)
  local packed = call('HGET', n.R, owner)
  if not packed then return nil end
  local permits, fence, floor, since, delay, min_end, max_end, client, pid, host, note, broken,
        released, value = string.match(packed, TEXT)
  return {permits = permits, fence = fence, floor = floor, since = since, delay = delay,
          min_end = min_end, max_end = max_end, client = client, pid = pid, host = host,
          note = note, broken = broken, released = released, value = value}
end
local function write_record(n, owner, rec)
  call('HSET', n.R, owner, table.concat({rec.permits, rec.fence, rec.floor, rec.since, rec.delay,
       rec.min_end, rec.max_end, rec.client, rec.pid, rec.host, rec.note, rec.broken, rec.released,
       rec.value}, US))
end

-- What the lock key says while several may hold the name; the limit (0: readers) that it says.
local function shared_value(limit) return limit == '0' and 'shared' or 'permits/' .. limit end
local function shared_limit(value)
  return value == 'shared' and '0' or string.match(value, '^permits/(%d+)$')
end

-- If one of the keys was evicted nobody can tell any more who holds the name.
local function intact(n)
  local holders = call('ZCARD', n.E)
  return holders > 0 and call('HLEN', n.R) == holders and call('ZCARD', n.O) == holders
end

local function end_records(n, last)
  call('PEXPIREAT', n.R, last)
  call('PEXPIREAT', n.E, last)
  call('PEXPIREAT', n.O, last)
end

-- Everything of the name ends with the last of the holders.
local function end_with_the_last(n)
  local last = call('ZREVRANGE', n.E, 0, 0, 'WITHSCORES')[2]
  if last then
    end_records(n, last)
    call('PEXPIREAT', n.K, last)
  else
    call('DEL', n.K, n.R, n.E, n.O)
    n.use, n.value, n.limit = 'free', false, nil
  end
end

local function drop(n, owner)
  call('ZREM', n.E, owner)
  call('ZREM', n.O, owner)
  call('HDEL', n.R, owner)
  n.permits_held = nil
end

-- One more record, or the first: then the lock key is still to be written.
local function put(n, owner, rec, expires)
  write_record(n, owner, rec)
  call('ZADD', n.E, text(expires), owner)
  call('ZADD', n.O, rec.fence, owner)
  if n.use == 'shared' then
    end_with_the_last(n)
  else
    end_records(n, text(expires))
  end
end

-- Gives a holder another end. The first write needs no memory (no owner is ''), so that the next
-- passes on a full server.
local function set_end(n, owner, expires)
  call('HDEL', n.R, '')
  call('ZADD', n.E, text(expires), owner)
  end_with_the_last(n)
end

-- A released holder stays until min_end, but is nobody inside: its place in the order is below 0.
local function set_released(n, owner, rec)
  set_end(n, owner, rec.min_end)
  call('ZADD', n.O, '-' .. rec.fence, owner)
  rec.released = '1'
  write_record(n, owner, rec)
end

-- The oldest holder that is inside.
local function oldest(n)
  return call('ZRANGEBYSCORE', n.O, '(0', '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
end

local function permits_held(n)
  if not n.permits_held then
    local sum = 0
    for _, packed in ipairs(call('HVALS', n.R)) do sum = sum + string.match(packed, '^%d+') end
    n.permits_held = sum
  end
  return n.permits_held
end

-- Returns the fence, max_end and the floor. Precondition: it fits.
local function grant_beside(n, owner, claim, wanted, provisional)
  local expires, min_end, max_end = bounds(n, claim, wanted, provisional)
  local fence = next_fence(n)
  write_fence(n, fence)
  local floor = n.last
  if n.use == 'shared' then
    floor = oldest(n)[2] or floor
    if n.permits_held then n.permits_held = n.permits_held + claim.permits end
  else
    call('DEL', n.R, n.E, n.O)  -- of holders whose lock key somebody took away
  end
  put(n, owner, {permits = claim.permits, fence = n.last, floor = floor, since = text(n.now),
                 delay = claim.delay, min_end = text(min_end), max_end = text(max_end),
                 client = claim.client, pid = claim.pid, host = claim.host, note = claim.note,
                 broken = '0', released = '0', value = claim.value}, expires)
  if n.use ~= 'shared' then
    call('SET', n.K, shared_value(claim.limit), 'PX', text(math.max(expires - n.now, 1)))
  end
  return fence, max_end, tonumber(floor)
end
)lua";

}  // namespace holdfast::redis
