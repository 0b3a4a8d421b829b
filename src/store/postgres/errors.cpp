#include "store/postgres/errors.hpp"

#include <array>

namespace holdfast::postgres {

namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

struct Rule {
  std::string_view state;  // a SQLSTATE, or the first of its characters
  errc code;
};

// The first that fits. All of these roll the statement back.
constexpr std::array rules{
    Rule{"HF005", errc::format_too_new},  Rule{"HF007", errc::storage_unsafe},
    Rule{"42501", errc::access_denied},   Rule{"28", errc::access_denied},
    Rule{"22021", errc::invalid_options}, Rule{"22P05", errc::invalid_options},
    Rule{"0A000", errc::unsupported},     Rule{"42", errc::unsupported},
    Rule{"", errc::store_unavailable},
};

}  // namespace

std::string one_line(std::string_view words) {
  std::string line;
  for (const char c : words) {
    line += c == '\n' || c == '\t' ? ' ' : c;
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

Failed why_refused(const std::string& place, std::string_view words) {
  errc code = errc::store_unavailable;
  std::string advice;
  if (contains(words, "no password supplied")) {
    code = errc::access_denied;
    advice = "; set HOLDFAST_PASSWORD, HOLDFAST_PASSWORD_FILE or password_file=";
  } else if (contains(words, "authentication failed") || contains(words, "pg_hba.conf") ||
             contains(words, "certificate") || contains(words, "SSL was required") ||
             contains(words, "not permitted to log in")) {
    code = errc::access_denied;
  } else if (contains(words, "FATAL:  database \"") || contains(words, "FATAL:  role \"") ||
             contains(words, "no such database")) {
    code = errc::access_denied;
  } else if (contains(words, "invalid connection option") || contains(words, "invalid value for") ||
             (contains(words, "invalid ") && contains(words, " value: "))) {
    code = errc::invalid_url;
  } else if (contains(words, "session is read-only") || contains(words, "hot standby")) {
    advice = "; a standby cannot lock: name the primary, or all of them";
  }
  return {code, false, place + ": " + one_line(words) + advice};
}

Failed why_failed(const std::string& place, const Trouble& trouble) {
  if (trouble.sqlstate.empty()) {
    return {errc::outcome_unknown, true, place + ": the connection ended: " + trouble.words};
  }
  errc code = errc::store_unavailable;
  for (const Rule& rule : rules) {
    if (trouble.sqlstate.starts_with(rule.state)) {
      code = rule.code;
      break;
    }
  }
  std::string advice;
  if (code == errc::access_denied) {
    advice = "; docs/stores/postgres.md lists the rights that are needed";
  }
  const bool shut_down = trouble.fatal || trouble.sqlstate.starts_with("57P");
  return {shut_down ? errc::outcome_unknown : code, shut_down,
          place + ": " + trouble.words + advice};
}

bool is_collision(const Trouble& trouble) {
  return trouble.sqlstate == "40001" || trouble.sqlstate == "40P01";
}

}  // namespace holdfast::postgres
