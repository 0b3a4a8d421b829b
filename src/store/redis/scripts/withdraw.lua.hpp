// Gives back whatever an owner has. Answers 1 (released) or 0 (nothing of ours was there).
#pragma once

#include <string_view>

namespace holdfast::redis {

// KEYS: the eight of the name, the owner's tombstone and, to mark a run done, its mark.

// Stands before the functions that a release with nobody waiting does not need.
inline constexpr std::string_view withdraw_alone_lua = R"lua(
local K, R, Q, G = KEYS[1], KEYS[3], KEYS[4], KEYS[9]
local owner, keep, gone, remember = ARGV[1], ARGV[2] == '1', ARGV[3], ARGV[5]

local value = redis.pcall('GET', K)
local had, broken = 0, false
if value == owner then
  local rec = call('HMGET', R, 'owner', 'released', 'min_end', 'broken')
  local min_end = 0
  if keep and rec[1] == owner and rec[3] ~= '0' then
    local us, now = clock()
    if tonumber(rec[3]) > now then min_end = rec[3] end
  end
  if rec[1] ~= owner or rec[2] == '0' then
    had = 1
    broken = rec[4] == '1'
    if min_end ~= 0 then
      call('PEXPIREAT', K, min_end)
      call('PEXPIREAT', R, min_end)
      call('HSET', R, 'released', '1')
    else
      call('DEL', K, R)
      value = false
    end
  end
end
local plain = had == 1 and not broken and gone == '0' and remember == '0'
if plain and not call('ZRANGE', Q, 0, 0)[1] then return 1 end

local n = name_at(1)
n.base = ARGV[4]
n.us, n.now = clock()
)lua";

// Stands before what only a name with several holders needs. The next waiter wants the name alone:
// nobody enters beside it. An error on the way is met again, and reported, by the waiter.
inline constexpr std::string_view withdraw_to_one_lua = R"lua(
if plain and not value then
  local ok, finished = pcall(function()
    local head, deadline, packed = living_head(n)
    if not head then return true end
    local wish = read_wish(packed)
    if wish.mode ~= 'exclusive' or wish.run ~= '' then return false end
    local fence = grant_alone(n, head, wish, deadline + wish.delay, true)
    value = head
    leave(n, head)
    tell(n, wish.client, 'granted ' .. head .. ' ' .. text(fence))
    local _, _, behind = living_head(n)
    return not behind or read_wish(behind).run == ''  -- else its run may be done
  end)
  if not ok or finished then return 1 end
end
)lua";

inline constexpr std::string_view withdraw_lua = R"lua(
local function give_back_beside(rec)
  broken = rec.broken == '1'
  if keep and tonumber(rec.min_end) > n.now then
    set_released(n, owner, rec)
  else
    drop(n, owner)
    end_with_the_last(n)
  end
end

-- True if the run is marked done by this owner, now or before. A mark that stands is not replaced.
local function finish_run(held)
  local by = call('GET', KEYS[10])
  if by then return by == owner end
  if held then call('SET', KEYS[10], owner, 'PX', remember) end
  return held
end

if type(value) == 'table' then
  n.use = 'foreign'  -- a key of another type
else
  look(n, value)
  drop_ended(n)
  local rec = n.use == 'shared' and held_by(n, owner)
  if rec then
    had = 1
    give_back_beside(rec)
  end
end
local held = had == 1
-- A broken holder that asked again waits behind itself. Nobody else both holds and waits.
if not held or broken then had = math.max(had, leave(n, owner)) end
-- After a write that needs no memory, so that a full server takes these too.
if remember ~= '0' and finish_run(held) then had = 1 end
if gone ~= '0' then call('SET', G, '1', 'PX', gone) end
serve_protected(n)
return had
)lua";

}  // namespace holdfast::redis
