// One attempt: a grant, a refresh of our own grant, a place in the queue, or a beat.
#pragma once

#include <string_view>

namespace holdfast::redis {

// Replies: {0, fence, ttl}; or {1 (queued) or 2 (busy), recheck_in, …} where recheck_in is the
// lock's PTTL (-1: held without end) and … is the holder as in holder_fields, or nothing when the
// holder is not of holdfast; or {2} for an owner that was withdrawn.
inline constexpr std::string_view acquire_lua = R"lua(
local K, F, R, Q, B, W, G = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local owner, queueing, liveness, base = ARGV[1], ARGV[2] == '1', tonumber(ARGV[3]), ARGV[4]
local claim = {ARGV[5], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10], ARGV[11], ARGV[12]}
local ttl, delay = tonumber(ARGV[5]), tonumber(ARGV[8])

local value = call('GET', K)
local kept = call('MGET', F, G)
if kept[2] then return {2} end  -- withdrawn before this request arrived: never granted
local us, now = clock()

local lost_record = false
if value == owner then
  local rec = call('HMGET', R, 'owner', 'fence', 'delay', 'min_end', 'max_end', 'broken',
                   'released')
  if rec[1] ~= owner then
    lost_record = true  -- evicted. The lock is ours all the same: a greater fence is as good
  elseif rec[6] == '0' and rec[7] == '0' then
    local max_end = tonumber(rec[5])
    local expires = text(bounded(now + ttl + rec[3], tonumber(rec[4]), max_end))
    call('PEXPIREAT', R, expires)
    call('PEXPIREAT', K, expires)
    return {0, tonumber(rec[2]), trust(ttl, tonumber(rec[3]), max_end, now)}
  end
end

if not value or lost_record then
  local head, deadline, wish
  if not lost_record then head, deadline, wish = living_head(Q, B, W, now) end
  if not head or head == owner then
    local fence, max_end = grant(K, F, R, kept[1], us, now, owner, claim, now + ttl + delay)
    if head then leave(Q, B, W, owner) end
    return {0, fence, trust(ttl, delay, max_end, now)}
  end
  give(K, F, R, Q, B, W, base, us, now, head, deadline, wish)
  value = head
end

local kind = 2
if queueing then
  kind = 1
  for _, dead in ipairs(call('ZRANGEBYSCORE', B, '-inf', '(' .. text(now), 'LIMIT', 0, 16)) do
    leave(Q, B, W, dead)
  end
  if not call('ZSCORE', Q, owner) then
    local last = call('ZREVRANGE', Q, 0, 0, 'WITHSCORES')[2]
    claim[9] = text(now)
    call('HSET', W, owner, table.concat(claim, US) .. US)
    call('ZADD', Q, text((last or 0) + 1), owner)
  end
  call('ZADD', B, text(now + liveness), owner)
  if call('PTTL', B) < liveness then  -- rarely: the keys outlive the longest liveness in them
    for _, key in ipairs({Q, B, W}) do call('PEXPIREAT', key, text(now + liveness + 60000)) end
  end
end

local reply = {kind, call('PTTL', K)}
local rec = call('HMGET', R, 'owner', 'fence', 'since', 'pid', 'broken', 'released', 'host', 'note')
if rec[1] == value then
  rec[3] = text(now - rec[3])
  for i = 1, 8 do reply[i + 2] = rec[i] end
end
return reply
)lua";

}  // namespace holdfast::redis
