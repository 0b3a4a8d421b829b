// Renews a batch. Answers one integer a name: the milliseconds to trust, -1 taken, -2 broken.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view renew_lua = R"lua(
-- KEYS: lock and record of each name. ARGV: the channel base, then owner, ttl and lock delay of
-- each. The other keys of a name are needed only when its lock is gone and somebody waits.
local base = ARGV[1]
local us, now = clock()
local locks, answers = {}, {}
for i = 1, #KEYS, 2 do locks[#locks + 1] = KEYS[i] end
local values = call('MGET', unpack(locks))

for i = 1, #locks do
  local K, R = KEYS[2 * i - 1], KEYS[2 * i]
  local owner, ttl, delay = ARGV[3 * i - 1], tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1])
  if values[i] == owner then
    local rec = call('HMGET', R, 'owner', 'delay', 'min_end', 'max_end', 'broken', 'released')
    local min_end, max_end = 0, 0
    if rec[1] == owner then  -- otherwise it was evicted: the lock is ours all the same
      delay, min_end, max_end = tonumber(rec[2]), tonumber(rec[3]), tonumber(rec[4])
    end
    if rec[1] == owner and rec[6] == '1' then  -- released: what is left is min_hold's tombstone
      answers[i] = -1
    elseif rec[1] == owner and rec[5] == '1' then
      answers[i] = -2
    else
      local expires = text(bounded(now + ttl + delay, min_end, max_end))
      call('PEXPIREAT', R, expires)
      call('PEXPIREAT', K, expires)
      answers[i] = trust(ttl, delay, max_end, now)
    end
  else
    answers[i] = -1
    -- MGET shows a key of another type as absent, so look again before giving the name away.
    if not values[i] and call('EXISTS', K) == 0 then
      local start = string.sub(R, 1, #R - #K - #('record' .. US))
      local function helper(kind) return start .. kind .. US .. K end
      hand_off(K, helper('fence'), R, helper('queue'), helper('beats'), helper('waiters'), base)
    end
  end
end
return answers
)lua";

}  // namespace holdfast::redis
