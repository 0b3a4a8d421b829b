// One name as people see it. Changes nothing.
#pragma once

#include <string_view>

namespace holdfast::redis {

// Replies {last fence, lock's PTTL (-2: free, -1: held without end), {the holders as in alone_lua;
// nothing: not of holdfast}, {owner, ms waited, pid, host, note, mode, permits, limit of each
// living waiter in order}}.
inline constexpr std::string_view inspect_lua = R"lua(
local n = name_at(1)
n.us, n.now = clock()
look(n, call('GET', n.K))

local left, holders, shown = call('PTTL', n.K), {}, 0
if n.use == 'exclusive' then
  show(n, holders, n.value)
elseif n.use == 'shared' then
  for _, owner in ipairs(in_order(n)) do
    if tonumber(call('ZSCORE', n.E, owner)) > n.now and shown < SHOWN_MAX then
      show(n, holders, owner)
      shown = shown + 1
    end
  end
  if shown == 0 then left = -2 end
end

local waiters = {}
for _, owner in ipairs(call('ZRANGE', n.Q, 0, SHOWN_MAX - 1)) do
  local deadline, packed = call('ZSCORE', n.B, owner), call('HGET', n.W, owner)
  if packed and deadline and tonumber(deadline) >= n.now then
    local wish = read_wish(packed)
    for _, field in ipairs({owner, text(n.now - wish.since), wish.pid, wish.host, wish.note,
                            wish.mode, wish.permits, wish.limit}) do
      waiters[#waiters + 1] = field
    end
  end
end
return {call('GET', n.F) or '0', left, holders, waiters}
)lua";

}  // namespace holdfast::redis
