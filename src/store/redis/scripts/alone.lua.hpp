// The holder of a name that is held alone, as others see it.
#pragma once

#include <string_view>

namespace holdfast::redis {

inline constexpr std::string_view alone_lua = R"lua(
local function read_alone(n)
  local r = call('HMGET', n.R, 'owner', 'fence', 'since', 'delay', 'min_end', 'max_end', 'client',
                 'pid', 'host', 'note', 'broken', 'released', 'value')
  return {owner = r[1], permits = '1', fence = r[2], floor = r[2], since = r[3], delay = r[4],
          min_end = r[5], max_end = r[6], client = r[7], pid = r[8], host = r[9], note = r[10],
          broken = r[11], released = r[12], value = r[13]}
end

-- Appends to `out` what is to be seen of a holder; `left`: ms, -1: held without end. These are the
-- `holder_fields` of replies.cpp.
local function show_record(n, out, owner, rec, mode, limit, left)
  for _, field in ipairs({owner, rec.fence, text(n.now - rec.since), rec.pid, rec.broken,
                          rec.released, rec.host, rec.note, mode, rec.permits, limit, rec.value,
                          left}) do
    out[#out + 1] = field
  end
end
)lua";

}  // namespace holdfast::redis
