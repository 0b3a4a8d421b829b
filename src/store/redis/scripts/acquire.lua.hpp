// One attempt: a grant, a refresh of our own grant, a place in the queue, or a beat.
#pragma once

#include <string_view>

namespace holdfast::redis {

// KEYS: the eight of the name, the owner's tombstone and, for a claim with a run, its done mark.
//
// Replies: {0, fence, ttl, floor}, without the floor where it is the fence; {1 (queued) or
// 2 (busy), recheck_in, last fence, …} where recheck_in may be -1 (held without end) and … is a
// holder as in alone_lua, or nothing when the holder is not of holdfast; {2} for an owner that was
// withdrawn; {3, limit} if the name is in use in another way; {4} if the run is done.

// Stands before the functions that a free name does not need.
inline constexpr std::string_view acquire_free_lua = R"lua(
local n, owner = name_at(1), ARGV[1]
local claim = {ttl = ARGV[5], min_hold = ARGV[6], max_hold = ARGV[7], delay = ARGV[8],
               client = ARGV[9], pid = ARGV[10], host = ARGV[11], note = ARGV[12],
               mode = ARGV[13] or 'exclusive', permits = ARGV[14] or '1', limit = ARGV[15] or '0',
               run = ARGV[16] or '', value = ARGV[17] or ''}
local ttl, delay = tonumber(claim.ttl), tonumber(claim.delay)

local value = call('GET', n.K)
local kept = call('MGET', n.F, KEYS[9])
if kept[2] then return {2} end  -- withdrawn before this request arrived: never granted
n.last, n.base = kept[1], ARGV[4]
n.us, n.now = clock()
local done = KEYS[10] and call('EXISTS', KEYS[10]) == 1

if not value and not done and claim.mode == 'exclusive' and not call('ZRANGE', n.Q, 0, 0)[1] then
  local fence, max_end = grant_alone(n, owner, claim, n.now + ttl + delay)
  return {0, fence, trust(ttl, delay, max_end, n.now)}
end
)lua";

// Stands before what only a name with several holders needs. Held alone by somebody else: nobody
// can enter, so nobody is served.
inline constexpr std::string_view acquire_held_lua = R"lua(
if value and value ~= owner and #value == #owner and claim.limit == '0' and not done then
  local rec = read_alone(n)
  if rec.owner == value then
    local reply = {2}
    if ARGV[2] == '1' then
      reply[1] = 1
      join(n, owner, claim, tonumber(ARGV[3]))
    end
    local left = call('PTTL', n.K)
    reply[2], reply[3] = left, n.last or '0'
    show_record(n, reply, value, rec, 'exclusive', '0', left)
    return reply
  end
end
)lua";

inline constexpr std::string_view acquire_lua = R"lua(
local function granted(fence, floor, trusted)
  return {0, tonumber(fence), trusted, tonumber(floor)}
end

look(n, value)
drop_ended(n)
local rec = held_by(n, owner)
if rec and rec.broken == '0' then
  return granted(rec.fence, rec.floor, refresh(n, owner, rec, ttl))
end
-- Our record was evicted. The lock is ours all the same: a greater fence is as good.
local lost = n.use == 'foreign' and value == owner
if done and not lost then
  leave(n, owner)
  serve_protected(n)
  return {4}
end

local head
if lost then
  n.use = 'free'
else
  local limit = limit_in_use(n)
  if limit and limit ~= claim.limit then return {3, tonumber(limit)} end
  head = serve(n, owner)
end
if (not head or head == owner) and fits(n, owner, claim) then
  local fence, max_end, floor = grant(n, owner, claim, n.now + ttl + delay)
  if head then leave(n, owner) end
  serve_protected(n)
  return granted(fence, floor, trust(ttl, delay, max_end, n.now))
end

local kind = 2
if ARGV[2] == '1' then
  kind = 1
  join(n, owner, claim, tonumber(ARGV[3]))
end
return busy(n, {kind})
)lua";

}  // namespace holdfast::redis
