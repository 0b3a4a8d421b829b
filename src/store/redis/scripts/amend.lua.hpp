// Changes what a lease says: its value, and from exclusive to shared.
#pragma once

#include <string_view>

namespace holdfast::redis {

// Answers 1 amended, -1 taken, -2 broken, -3 shared cannot become exclusive.
inline constexpr std::string_view amend_lua = R"lua(
local n, owner, mode = name_at(1), ARGV[1], ARGV[2]
n.base = ARGV[4]
n.us, n.now = clock()
look(n, call('GET', n.K))
drop_ended(n)

-- The lock key last: if anything fails before, the name is still ours alone.
local function downgrade()
  local rec = n.rec
  rec.value = ARGV[3]
  local left = call('PTTL', n.K)
  if left < 0 then left = FENCE_LIFE end  -- somebody made it persistent
  call('DEL', n.R, n.E, n.O)
  put(n, owner, rec, n.now + left)
  call('SET', n.K, shared_value('0'), 'PX', text(math.max(left, 1)))
  n.use, n.value = 'shared', shared_value('0')
end

local answer, rec = 1, held_by(n, owner)
if not rec then
  answer = -1
elseif rec.broken == '1' then
  answer = -2
elseif n.use == 'shared' and mode == 'exclusive' then
  answer = -3
elseif n.use == 'shared' then
  rec.value = ARGV[3]
  write_record(n, owner, rec)
elseif mode == 'shared' then
  downgrade()
else
  call('HSET', n.R, 'value', ARGV[3])
end
serve_protected(n)
return answer
)lua";

}  // namespace holdfast::redis
