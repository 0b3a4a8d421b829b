// Renews a batch. Answers one integer a name: the milliseconds to trust, -1 taken, -2 broken.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view renew_lua = R"lua(
-- KEYS: of a claim alone its lock and record, for that is all that a held name needs; of a shared
-- one all eight. ARGV: the channel base, then owner, ttl, lock delay, fence (0: not known) and how
-- many keys, of each.
local us, now = clock()
local names, locks, first = {}, {}, 1
for i = 6, #ARGV, 5 do
  names[#names + 1], locks[#locks + 1] = first, KEYS[first]
  first = first + ARGV[i]
end
local values = call('MGET', unpack(locks))

local function alone(i) return ARGV[5 * i + 1] == '2' end

local function whole_name(i)
  local n = name_at(names[i])
  if alone(i) then
    n.R = KEYS[names[i] + 1]
    local start = string.sub(n.R, 1, #n.R - #n.K - #('record' .. US))
    for field, kind in pairs({F = 'fence', Q = 'queue', B = 'beats', W = 'waiters', E = 'ends',
                              O = 'order'}) do
      n[field] = start .. kind .. US .. n.K
    end
  end
  n.us, n.now, n.base = us, now, ARGV[1]
  return n
end

local function renew_alone(K, R, owner, ttl, delay, fence)
  local rec = call('HMGET', R, 'owner', 'delay', 'min_end', 'max_end', 'broken', 'released',
                   'fence')
  local min_end, max_end = 0, 0
  if rec[1] == owner then  -- otherwise it was evicted: the lock is ours all the same
    if rec[6] == '1' then return -1 end  -- what is left is min_hold's tombstone
    if rec[5] == '1' then return -2 end
    if fence ~= '0' and fence ~= rec[7] then return -1 end
    delay, min_end, max_end = tonumber(rec[2]), tonumber(rec[3]), tonumber(rec[4])
  end
  local expires = text(bounded(now + ttl + delay, min_end, max_end))
  call('PEXPIREAT', R, expires)
  call('PEXPIREAT', K, expires)
  return trust(ttl, delay, max_end, now)
end

local function renew_beside(n, owner, ttl, fence)
  drop_ended(n)
  local rec = held_by(n, owner)
  if not rec then return -1 end
  if rec.broken == '1' then return -2 end
  if fence ~= '0' and fence ~= rec.fence then return -1 end
  return refresh(n, owner, rec, ttl)
end

local answers = {}
for i = 1, #locks do
  local owner, ttl, delay = ARGV[5 * i - 3], tonumber(ARGV[5 * i - 2]), tonumber(ARGV[5 * i - 1])
  local fence, value = ARGV[5 * i], values[i]
  if value == owner then
    local record = KEYS[names[i] + (alone(i) and 1 or 2)]
    answers[i] = renew_alone(locks[i], record, owner, ttl, delay, fence)
  elseif value and not shared_limit(value) then
    answers[i] = -1
  else
    local n = whole_name(i)
    -- MGET shows a key of another type as absent, so look again before giving the name away.
    local untouchable = not value and call('EXISTS', n.K) == 1
    answers[i] = -1
    if not untouchable then
      look(n, value)
      answers[i] = renew_beside(n, owner, ttl, fence)
      serve_protected(n)
    end
  end
end
return answers
)lua";

}  // namespace holdfast::redis
