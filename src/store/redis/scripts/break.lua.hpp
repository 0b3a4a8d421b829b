// An operator takes the name away.
#pragma once

#include <string_view>

namespace holdfast::redis {

// Answers {lock's PTTL (-2: nobody held it), {the holders as in alone_lua; nothing: not of
// holdfast}}.
inline constexpr std::string_view break_lua = R"lua(
local n, now_mode = name_at(1), ARGV[1] == '1'
n.base = ARGV[2]
n.us, n.now = clock()
look(n, call('GET', n.K))
drop_ended(n)
if n.use == 'free' then
  serve_protected(n)
  return {-2, {}}
end
if n.use == 'foreign' and not now_mode then
  return redis.error_reply('HOLDFAST_FOREIGN another Redis client holds it')
end

-- HDEL needs no memory, so that the next write passes on a full server.
local function mark_broken(owner, rec)
  if n.use == 'exclusive' then
    call('HDEL', n.R, 'broken')
    call('HSET', n.R, 'broken', '1')
  else
    call('HDEL', n.R, '')
    rec.broken = '1'
    write_record(n, owner, rec)
  end
end

local reply, told = {call('PTTL', n.K), {}}, {}
local holders = n.use == 'foreign' and {} or in_order(n)
for i, owner in ipairs(holders) do
  local rec = show(n, i <= SHOWN_MAX and reply[2] or {}, owner)
  if rec.released == '0' then
    told[#told + 1] = {rec.client, 'broken ' .. owner}
    if not now_mode then mark_broken(owner, rec) end
  elseif n.use == 'shared' then
    drop(n, owner)
  else
    now_mode = true
  end
end
if now_mode then
  call('DEL', n.K, n.R, n.E, n.O)
  n.use, n.value, n.limit = 'free', false, nil
elseif n.use == 'shared' then
  end_with_the_last(n)
end
serve_protected(n)
for _, one in ipairs(told) do tell(n, one[1], one[2]) end
return reply
)lua";

}  // namespace holdfast::redis
