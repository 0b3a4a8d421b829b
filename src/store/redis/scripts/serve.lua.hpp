// What stands at a name, who fits beside it, and the hand-off to those who wait. The rules are
// those of docs/internals/store-rules.md.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view serve_lua = R"lua(
-- Sees how the name is used, `value` being that of its lock key: n.use is 'free', 'exclusive',
-- 'shared', or 'foreign' where no record of ours says who holds it; n.limit is nil if unknown.
local function look(n, value)
  n.use, n.value, n.limit = 'free', value, nil
  if not value then return end
  n.use = 'foreign'
  local limit = shared_limit(value)
  if limit then
    if intact(n) then n.use, n.limit = 'shared', limit end
    return
  end
  local rec = read_alone(n)
  if rec.owner == value then n.use, n.limit, n.rec = 'exclusive', '0', rec end
end

-- How the name is used, be it by waiters alone: a limit, or nil if it is not used at all.
local function limit_in_use(n)
  if n.limit then return n.limit end
  local _, _, packed = living_head(n)
  return packed and read_wish(packed).limit
end

-- The record of a holder that has not given back, if it is one.
local function held_by(n, owner)
  local rec
  if n.use == 'shared' then
    rec = read_record(n, owner)
  elseif n.use == 'exclusive' and n.value == owner then
    rec = n.rec
  end
  if rec and rec.released ~= '1' then return rec end
end

-- A name of one holder ends with its lock key. Among several each ends by itself.
local function drop_ended(n)
  if n.use ~= 'shared' then return end
  local ended = call('ZRANGEBYSCORE', n.E, '-inf', text(n.now))
  if #ended == 0 then return end
  for _, owner in ipairs(ended) do drop(n, owner) end
  end_with_the_last(n)
end

-- Gives a lease that is held its full length. Returns what is left to trust.
local function refresh(n, owner, rec, ttl)
  local delay, max_end = tonumber(rec.delay), tonumber(rec.max_end)
  local expires = bounded(n.now + ttl + delay, tonumber(rec.min_end), max_end)
  if n.use == 'shared' then
    set_end(n, owner, expires)
  else
    call('PEXPIREAT', n.R, text(expires))
    call('PEXPIREAT', n.K, text(expires))
  end
  return trust(ttl, delay, max_end, n.now)
end

local function fits(n, owner, claim)
  if n.use == 'free' then return true end
  if n.use ~= 'shared' or claim.mode ~= 'shared' or claim.limit ~= n.limit then return false end
  if call('HGET', n.R, owner) then return false end
  return n.limit == '0' or claim.permits + permits_held(n) <= tonumber(n.limit)
end

-- Returns the fence, max_end and the floor. Precondition: it fits.
local function grant(n, owner, claim, wanted, provisional)
  if claim.mode == 'shared' then
    local fence, max_end, floor = grant_beside(n, owner, claim, wanted, provisional)
    n.use, n.value, n.limit = 'shared', shared_value(claim.limit), claim.limit
    return fence, max_end, floor
  end
  local fence, max_end = grant_alone(n, owner, claim, wanted, provisional)
  n.use, n.value, n.limit, n.rec = 'exclusive', owner, '0', nil
  return fence, max_end, fence
end

local function is_done(n, run)
  if run == '' then return false end
  local start = string.sub(n.R, 1, #n.R - #n.K - #('record' .. US))
  return call('EXISTS', start .. 'done:' .. run .. US .. n.K) == 1
end

-- Hands the name to its waiters as long as the head fits, but no further than to `stop`. Leases are
-- provisional: until its liveness ends each must ask or renew. Returns the head that it stopped at.
local function serve(n, stop)
  while true do
    local head, deadline, packed = living_head(n)
    if not head or head == stop then return head end
    local wish = read_wish(packed)
    if is_done(n, wish.run) then
      leave(n, head)
      tell(n, wish.client, 'look ' .. head)
    elseif fits(n, head, wish) then
      local fence, _, floor = grant(n, head, wish, deadline + wish.delay, true)
      leave(n, head)
      local message = 'granted ' .. head .. ' ' .. text(fence)
      if floor ~= fence then message = message .. ' ' .. text(floor) end
      tell(n, wish.client, message)
    else
      return head
    end
  end
end

-- For what is finished already: whatever is wrong with the next grant (a fence key with a foreign
-- value) must not make it an error; the waiters' own requests meet it and report it.
local function serve_protected(n)
  if call('ZRANGE', n.Q, 0, 0)[1] then pcall(serve, n) end
end
)lua";

}  // namespace holdfast::redis
