#include "guard/redis_lua.hpp"

#include <holdfast/guard/redis.hpp>

namespace holdfast {

namespace {

// Fences are compared as text: Lua's numbers skip integers above 2^53.
constexpr std::string_view fence_functions = R"lua(
local function fence_of(text)  -- the text, if it is a positive 64-bit integer in plain decimal
  if type(text) == 'string' and string.find(text, '^[1-9]%d*$') and (#text < 19
      or (#text == 19 and text <= '9223372036854775807')) then return text end
end
local function less(a, b) return #a < #b or (#a == #b and a < b) end
)lua";

// The mark is written even if it stays the same: with full memory Redis refuses the first write of
// a script and no later one, so what gets past this line can write all it has to.
constexpr std::string_view admit = R"lua(
local name, fence, floor = ARGV[1], fence_of(ARGV[2]), ARGV[3]
if not string.find(KEYS[1] or '', '^holdfast:{.+\31guard%.mark\31.') then
  return redis.error_reply('HOLDFAST_MARK KEYS[1] is not the key of a mark')
end
local resource = string.gsub(string.match(KEYS[1], '\31guard%.mark\31(.*)$'), '%c', '?')
if not name or name == '' then
  return redis.error_reply('HOLDFAST_FENCE the name of the lock is missing')
end
if not fence then
  return redis.error_reply('HOLDFAST_FENCE a fence is a positive integer')
end
if floor == '' then floor = fence else floor = fence_of(floor) end
if not floor or less(fence, floor) then
  return redis.error_reply('HOLDFAST_FENCE a floor is an integer from 1 to the fence')
end
local seen = redis.call('HMGET', KEYS[1], 'name', 'mark')
if seen[1] and seen[1] ~= name then
  return redis.error_reply('HOLDFAST_NAME resource "' .. resource
    .. '" is guarded by the lock "' .. seen[1] .. '"')
end
if seen[2] then
  if not fence_of(seen[2]) then
    return redis.error_reply('HOLDFAST_MARK the mark of "' .. resource .. '" is not a fence')
  end
  if less(fence, seen[2]) then
    return redis.error_reply('HOLDFAST_STALE resource "' .. resource .. '" has seen fence '
      .. seen[2] .. ', this one is ' .. fence)
  end
  if less(floor, seen[2]) then floor = seen[2] end
end
redis.call('HSET', KEYS[1], 'name', name, 'mark', floor)
)lua";

constexpr std::string_view owner = R"lua(
if not ARGV[1] or ARGV[1] == '' or redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return redis.error_reply('HOLDFAST_OWNER this owner does not hold the lock any more')
end
)lua";

// The key is written before the work, for the same reason as the mark above.
constexpr std::string_view once_begin = R"lua(
if not string.find(KEYS[1] or '', '^holdfast:{.+\31guard%.once\31.') then
  return redis.error_reply('HOLDFAST_MARK KEYS[1] is not a once key')
end
if ARGV[1] ~= '' and not fence_of(ARGV[1]) then
  return redis.error_reply('HOLDFAST_FENCE a fence is a positive integer')
end
local kept = redis.call('HMGET', KEYS[1], 'done', 'result', 'fence')
if kept[1] then return {0, kept[2], kept[3]} end
redis.call('HSET', KEYS[1], 'done', '1', 'fence', ARGV[1])
if not tonumber(ARGV[2]) or redis.call('PEXPIRE', KEYS[1], ARGV[2]) ~= 1 then
  redis.call('DEL', KEYS[1])
  return redis.error_reply('HOLDFAST_FENCE ARGV[2] is how long to remember, in milliseconds')
end
local ok, result = pcall(function() return )lua";

constexpr std::string_view once_end = R"lua( end)
if not ok or (type(result) == 'table' and result.err) then
  redis.call('DEL', KEYS[1])
  if type(result) == 'table' then return result end
  return redis.error_reply(tostring(result))
end
if type(result) == 'table' then result = result.ok end
if type(result) == 'number' then
  result = string.format('%.0f', result < 0 and math.ceil(result) or math.floor(result))
end
if type(result) == 'string' then
  redis.call('HSET', KEYS[1], 'result', result)
  return {1, result}
end
return {1}
)lua";

constexpr std::string_view admit_usage =
    R"lua(
-- holdfast resource guard for Redis 5.0 or newer: runs a command only if the fence is not stale,
-- in the same step.
--
--   EVAL script 2 MARK KEY   NAME FENCE FLOOR   COMMAND WORD...
--
-- MARK: `holdfast:{R}` 0x1f `guard.mark` 0x1f `R` for the resource R: any text without braces that
-- stands for what is protected, mostly KEY itself. If R has a {tag}: `holdfast:{tag}` 0x1f ... `R`.
-- NAME: $HOLDFAST_NAME. FENCE: $HOLDFAST_FENCE. FLOOR: $HOLDFAST_FLOOR, or an empty string.
-- COMMAND: what is done with KEY, word by word. In a shell:
--
--   mark=$(printf 'holdfast:{balance}\037guard.mark\037balance')
--   redis-cli -e EVAL "$(holdfast guard sql redis)" 2 "$mark" balance \
--     "$HOLDFAST_NAME" "$HOLDFAST_FENCE" "$HOLDFAST_FLOOR" SET balance 100
--
-- A stale fence is the error HOLDFAST_STALE, and nothing was written. For more than one write
-- replace the last line by your own: KEYS from 2 on, ARGV from 4 on. Redis does not undo what a
-- script wrote before it failed: check first, then write.
)lua";

constexpr std::string_view owner_usage =
    R"lua(
-- holdfast owner guard for Redis 5.0 or newer: runs a command only while the lock is still mine,
-- in the same step.
--
--   EVAL script 2 LOCK KEY   OWNER   COMMAND WORD...
--
-- LOCK: prefix and name of the lock, as in lock:payout. OWNER: $HOLDFAST_OWNER.
-- Somebody else's lock, or none, is the error HOLDFAST_OWNER, and nothing was written.
)lua";

constexpr std::string_view once_usage =
    R"lua(
-- holdfast once guard for Redis 5.0 or newer: runs a command once per key and keeps its answer.
--
--   EVAL script 2 ONCE KEY   FENCE REMEMBER   COMMAND WORD...
--
-- ONCE: `holdfast:{I}` 0x1f `guard.once` 0x1f `I` for the idempotency key I (no braces in it; if it
-- has a {tag}: `holdfast:{tag}` 0x1f ... `I`). FENCE: $HOLDFAST_FENCE or an empty string. REMEMBER:
-- milliseconds; then the key is free again. COMMAND: what is done with KEY, word by word.
-- Answers 1 and the result if it was done now, 0, the first result and its fence if before.
)lua";

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) {
    text += part;
  }
  return text;
}

// The keys from the second and the arguments from `args` on become the script's own.
std::string as_call(std::string_view script, int args) {
  return joined({R"lua((function()
local function rest(list, from)
  local part = {}
  for i = from, #list do part[#part + 1] = list[i] end
  return part
end
return (function(KEYS, ARGV)
)lua",
                 script, "\nend)(rest(KEYS, 2), rest(ARGV, ", std::to_string(args),
                 "))\nend)()\n"});
}

}  // namespace

namespace guard {

std::string if_admitted(std::string_view script) {
  return joined({fence_functions, admit, "return ", as_call(script, 4)});
}

std::string if_owner(std::string_view script) {
  return joined({owner, "return ", as_call(script, 2)});
}

std::string if_first(std::string_view script) {
  return joined({fence_functions, once_begin, as_call(script, 3), once_end});
}

}  // namespace guard

std::string guard_lua_redis() {
  return joined(
      {admit_usage.substr(1), fence_functions, admit, "return redis.call(unpack(ARGV, 4))\n"});
}

std::string guard_lua_redis_owner() {
  return joined({owner_usage.substr(1), owner, "return redis.call(unpack(ARGV, 2))\n"});
}

std::string guard_lua_redis_once() {
  return joined(
      {once_usage.substr(1), fence_functions, once_begin, "redis.call(unpack(ARGV, 3))", once_end});
}

}  // namespace holdfast
