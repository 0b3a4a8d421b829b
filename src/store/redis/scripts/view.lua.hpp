// Holders as others see them.
#pragma once

#include <string_view>

namespace holdfast::redis {

// `holder_fields` of replies.cpp, a holder: owner, fence, ms held, pid, broken, released, host,
// note, mode, permits, limit, value, ms left (-1: held without end).
inline constexpr std::string_view view_lua = R"lua(
local SHOWN_MAX = 1000  -- people look at it, and a reply has bounds

-- Appends what is to be seen of a holder to `out`. Returns its record.
local function show(n, out, owner)
  local rec, left
  if n.use == 'shared' then
    rec = read_record(n, owner)
    left = call('ZSCORE', n.E, owner) - n.now
    rec.mode, rec.limit = 'shared', n.limit
  else
    local h = call('HMGET', n.R, 'fence', 'since', 'pid', 'broken', 'released', 'host', 'note',
                   'value', 'client')
    rec = {fence = h[1], since = h[2], pid = h[3], broken = h[4], released = h[5], host = h[6],
           note = h[7], mode = 'exclusive', permits = '1', limit = '0', value = h[8],
           client = h[9]}
    left = call('PTTL', n.K)
  end
  for _, field in ipairs({owner, rec.fence, text(n.now - rec.since), rec.pid, rec.broken,
                          rec.released, rec.host, rec.note, rec.mode, rec.permits, rec.limit,
                          rec.value, left}) do
    out[#out + 1] = field
  end
  return rec
end

-- Completes the answer that a name cannot be had now: when to look again (-1: held without end,
-- -2: it is free), its last fence, and the oldest holder, unless that is not of holdfast.
local function busy(n, reply)
  local recheck, owner = call('PTTL', n.K), n.use == 'exclusive' and n.value
  if n.use == 'shared' then
    recheck = call('ZRANGE', n.E, 0, 0, 'WITHSCORES')[2] - n.now
    owner = oldest(n)[1] or call('ZREVRANGE', n.O, 0, 0)[1]
  end
  reply[#reply + 1] = recheck
  reply[#reply + 1] = n.last or '0'
  if owner then show(n, reply, owner) end
  return reply
end

-- All holders by their fences.
local function in_order(n)
  if n.use ~= 'shared' then return {n.value} end
  local found = call('ZRANGE', n.O, 0, -1, 'WITHSCORES')
  local owners, fences = {}, {}
  for i = 1, #found, 2 do
    owners[#owners + 1] = found[i]
    fences[found[i]] = math.abs(found[i + 1])
  end
  table.sort(owners, function(a, b) return fences[a] < fences[b] end)
  return owners
end
)lua";

}  // namespace holdfast::redis
