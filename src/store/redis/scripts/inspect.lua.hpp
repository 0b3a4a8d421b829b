// One name as people see it. Changes nothing.
#pragma once

#include <string_view>

namespace holdfast::redis {

// Replies {last fence, lock's PTTL (-2: free, -1: held without end), {holder fields or nothing},
// {owner, ms waited, pid, host, note of each living waiter in order}}.
inline constexpr std::string_view inspect_lua = R"lua(
local K, F, R, Q, B, W = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local value = call('GET', K)
local us, now = clock()

local holder = {}
local rec = call('HMGET', R, 'owner', 'fence', 'since', 'pid', 'broken', 'released', 'host', 'note')
if value and rec[1] == value then
  rec[3] = text(now - rec[3])
  holder = rec
end

local waiters = {}
for _, owner in ipairs(call('ZRANGE', Q, 0, 999)) do
  local deadline, wish = call('ZSCORE', B, owner), call('HGET', W, owner)
  if wish and deadline and tonumber(deadline) >= now then
    local claim = {}
    for field in string.gmatch(wish, '([^\31]*)\31') do claim[#claim + 1] = field end
    for _, field in ipairs({owner, text(now - claim[9]), claim[6], claim[7], claim[8]}) do
      waiters[#waiters + 1] = field
    end
  end
end
return {call('GET', F) or '0', call('PTTL', K), holder, waiters}
)lua";

}  // namespace holdfast::redis
