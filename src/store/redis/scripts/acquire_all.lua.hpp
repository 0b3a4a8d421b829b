// Several names at once, all or none.
#pragma once

#include <string_view>

namespace holdfast::redis {

// KEYS: of each claim the eight of its name and the owner's tombstone. Replies: {0, fence, ttl and
// floor of each}; {2, which, …} with the first that could not be had, counted from 0, and … as
// acquire answers; {3, which, limit} if that one is in use in another way.
inline constexpr std::string_view acquire_all_lua = R"lua(
local PER_CLAIM = 13  -- arguments of each, after the channel base
local us, now = clock()
local names = {}
for i = 1, #KEYS / 9 do
  local n, at = name_at(9 * i - 8), PER_CLAIM * (i - 1) + 1
  n.us, n.now, n.base, n.owner = us, now, ARGV[1], ARGV[at + 1]
  n.claim = {ttl = ARGV[at + 2], min_hold = ARGV[at + 3], max_hold = ARGV[at + 4],
             delay = ARGV[at + 5], client = ARGV[at + 6], pid = ARGV[at + 7], host = ARGV[at + 8],
             note = ARGV[at + 9], mode = ARGV[at + 10], permits = ARGV[at + 11],
             limit = ARGV[at + 12], value = ARGV[at + 13]}
  local kept = call('MGET', n.F, KEYS[9 * i])
  n.last, n.gone = kept[1], kept[2]
  look(n, call('GET', n.K))
  names[i] = n
end
for _, n in ipairs(names) do
  drop_ended(n)
  n.head = serve(n)
end

for i, n in ipairs(names) do
  local limit = limit_in_use(n)
  if limit and limit ~= n.claim.limit then return {3, i - 1, tonumber(limit)} end
  local rec = held_by(n, n.owner)
  n.rec_held = rec and rec.broken == '0' and rec
  if n.use == 'foreign' and n.value == n.owner then  -- our record was evicted, the lock was not
    n.use, n.head = 'free', nil
  end
  if n.gone or not n.rec_held and (n.head or not fits(n, n.owner, n.claim)) then
    return busy(n, {2, i - 1})
  end
end
-- Scripts do not roll back: a fence that cannot be given must be met before the first grant.
for _, n in ipairs(names) do
  if not n.rec_held then next_fence(n) end
end

local reply = {0}
for _, n in ipairs(names) do
  local ttl, delay, rec = tonumber(n.claim.ttl), tonumber(n.claim.delay), n.rec_held
  local fence, floor, trusted
  if rec then
    fence, floor, trusted = rec.fence, rec.floor, refresh(n, n.owner, rec, ttl)
  else
    local max_end
    fence, max_end, floor = grant(n, n.owner, n.claim, now + ttl + delay)
    trusted = trust(ttl, delay, max_end, now)
  end
  reply[#reply + 1] = tonumber(fence)
  reply[#reply + 1] = trusted
  reply[#reply + 1] = tonumber(floor)
end
return reply
)lua";

}  // namespace holdfast::redis
