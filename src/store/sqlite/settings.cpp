#include "store/sqlite/settings.hpp"

#include "base/duration_text.hpp"

#include <holdfast/error.hpp>

namespace holdfast::sqlite {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(errc::invalid_url, why); }

}  // namespace

Settings Settings::from(const StoreUrl& url) {
  if (!url.hosts.empty() || !url.user.empty() || !url.password.empty()) {
    refuse("sqlite: takes a path and nothing else: sqlite:///var/lib/app/locks.db");
  }
  if (url.path.size() < 2 || url.path.front() != '/' || url.path.back() == '/') {
    refuse("sqlite: needs the absolute path of a file: sqlite:///var/lib/app/locks.db");
  }
  Settings settings;
  settings.path = url.path;
  settings.url = url.text_without_password();
  for (const auto& [key, value] : url.query) {
    if (key == "op_timeout") {
      const auto timeout = parse_duration(value);
      if (!timeout || *timeout < std::chrono::milliseconds{1} ||
          *timeout > std::chrono::minutes{1}) {
        refuse("op_timeout=" + value + " is not a duration from 1ms to 1m, as 2s");
      }
      settings.op_timeout = *timeout;
    } else if (key == "allow_fs") {
      if (value != "any") {
        refuse("allow_fs=" + value + " is not known; the only value is any");
      }
      settings.any_file_system = true;
    } else {
      refuse("sqlite: does not know the parameter " + key + "; it knows op_timeout and allow_fs");
    }
  }
  return settings;
}

}  // namespace holdfast::sqlite
