// Stands first in every script: the words that all of them use. They are those of README.md.
#pragma once

#include <string_view>

namespace holdfast::redis {

// Rules for every script here:
//  * Time is the server's (TIME); expiries are milliseconds, fences microseconds.
//  * Redis does not roll a failed script back, and under full memory it refuses only the first
//    write. So a grant writes the fence, then the record, then the lock: a failure in between
//    leaves the name free, never owned without a fence. Giving back begins with a write that needs
//    no memory, so that it works on a full server too.
//  * The lock key says whether the name is held: by the owner that is its value, or by those of the
//    record, if its value is "shared" or "permits/LIMIT". The record counts only as long as the
//    lock key says so; any other value belongs to some other Redis client and is never touched.
//  * Each `local function` costs every run of the script, so what is usual and simple is done
//    before the functions that it does not need.
inline constexpr std::string_view base_lua = R"lua(
local call = redis.call
local US = '\31'

local function text(number) return string.format('%.0f', number) end

-- now in microseconds and in milliseconds
local function clock()
  local t = call('TIME')
  local us = t[1] * 1000000 + t[2]
  return us, math.floor(us / 1000)
end

-- A name by its keys, which are KEYS[i] to KEYS[i + 7].
local function name_at(i)
  return {K = KEYS[i], F = KEYS[i + 1], R = KEYS[i + 2], Q = KEYS[i + 3], B = KEYS[i + 4],
          W = KEYS[i + 5], E = KEYS[i + 6], O = KEYS[i + 7]}
end
)lua";

}  // namespace holdfast::redis
