// The SQL that the store installs: tables, and one function a verb. One DO statement: by itself it
// is one transaction, whatever sends it, and two clients that install at once do it one after the
// other.
#pragma once

#include <string>

namespace holdfast::postgres {

inline constexpr int schema_version = 1;

// The whole of it, made once. Thread-safe.
const std::string& install_sql();

namespace sql {
extern const char* const install_head;  // who may install; ends where the objects begin
extern const char* const tables;
extern const char* const rules;  // functions that only other functions call
extern const char* const verbs;
extern const char* const views;  // what people look at
extern const char* const sessions;
extern const char* const install_tail;
}  // namespace sql

}  // namespace holdfast::postgres
