// Holders as others see them.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view view_lua = R"lua(
local SHOWN_MAX = 1000  -- people look at it, and a reply has bounds

-- Appends what is to be seen of any holder to `out`. Returns its record.
local function show(n, out, owner)
  local rec, left
  if n.use == 'shared' then
    rec = read_record(n, owner)
    left = call('ZSCORE', n.E, owner) - n.now
  else
    rec = n.rec or read_alone(n)
    left = call('PTTL', n.K)
  end
  show_record(n, out, owner, rec, n.use, n.limit, left)
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
