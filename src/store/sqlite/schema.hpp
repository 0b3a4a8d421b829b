// The tables of a lock file (README.md describes them for other readers), and what opening one
// must check and write.
#pragma once

#include "store/sqlite/database.hpp"
#include "store/sqlite/host_clock.hpp"
#include "store/sqlite/rows.hpp"

#include <string>

namespace holdfast::sqlite {

inline constexpr std::int64_t format_version = 2;
inline constexpr std::int64_t application_id = 0x686f6c64;  // "hold"

struct OpenedSchema {
  Boot boot{};
  std::string file_id{};  // drawn when the tables were made: tells one file from another
};

// Makes the tables if the file is empty, brings those of an older format to this one, and makes
// this boot's clock row if it is not there. Any number of processes may do so at once. Throws
// Error{format_too_new, storage_unsafe}; SqlError that is_busy() when it is somebody else's turn.
OpenedSchema open_schema(Database& database, const HostClock& clock, Instant now);

// Throws Error{format_too_new} if a newer holdfast has changed the file since it was opened.
class FormatCheck {
 public:
  explicit FormatCheck(Database& database) : version_(database, "PRAGMA user_version") {}
  void require_known();

 private:
  Statement version_;
};

}  // namespace holdfast::sqlite
