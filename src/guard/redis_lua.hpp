// The guards' Lua scripts: a check, then a script of the caller's, which sees its own KEYS and
// ARGV. A refusal is an error whose first word says what it is.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::guard {

// KEYS: the mark, the script's. ARGV: name, fence, floor or '', the script's. Errors:
// HOLDFAST_STALE, HOLDFAST_NAME (another lock guards it), HOLDFAST_FENCE (this is no fence),
// HOLDFAST_MARK (KEYS[1] is no mark).
std::string if_admitted(std::string_view script);

// KEYS: the lock, the script's. ARGV: the owner, the script's. Errors: HOLDFAST_OWNER.
std::string if_owner(std::string_view script);

// KEYS: the once key, the script's. ARGV: fence or '', milliseconds, the script's. Errors:
// HOLDFAST_FENCE, HOLDFAST_MARK. Answers {1, result} or {0, result, fence}.
std::string if_first(std::string_view script);

}  // namespace holdfast::guard
