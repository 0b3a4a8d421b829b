#include "tests/tidy/rules.hpp"

#include <regex>

namespace holdfast::tidy {

namespace {

struct Ban {
  std::regex pattern{};
  std::vector<std::string> where{};   // path prefixes
  std::vector<std::string> except{};  // path prefixes
  std::string instead{};
};

Ban ban(const char* pattern, std::vector<std::string> where, std::vector<std::string> except,
        std::string instead) {
  return {std::regex{pattern}, std::move(where), std::move(except), std::move(instead)};
}

const std::vector<std::string> product = {"include/", "src/", "sim/"};
const std::vector<std::string> everywhere = {"include/", "src/",      "sim/",
                                             "tests/",   "examples/", "bench/"};

const std::vector<Ban>& bans() {
  static const std::vector<Ban> table = {
      ban(R"(\b(sleep_for|sleep_until|usleep|nanosleep)\b|\bsleep\s*\()", product, {},
          "sleeping: use Runtime::call_at, or poll() on a descriptor"),
      ban(R"(\bsystem_clock\b)", {"include/", "src/core/", "src/engine/", "src/store/", "sim/"},
          {"src/store/sqlite/", "src/store/memory/", "src/store/etcd/people_clock.cpp"},
          "the wall clock: decide by Instant (only the time part of a fence may)"),
      ban(R"(\bsteady_clock\b)", product, {}, "steady_clock stands still in suspend: BootClock"),
      ban(R"(::now\s*\()", {"src/core/", "sim/"}, {}, "a clock: machines are told the time"),
      ban(R"(std::(recursive_|timed_|shared_)?mutex\b|std::thread\b|std::jthread\b|std::atomic)",
          {"src/core/", "sim/"}, {}, "threads: machines belong to one thread"),
      ban(R"((\.|->)detach\s*\(\s*\))", everywhere, {}, "detached threads: join them"),
      ban(R"(\bnew\s+[A-Za-z_:(\[]|\bnew\s*\()", everywhere, {}, "naked new: std::make_unique"),
      ban(R"(\bdelete\s*(\[\s*\])?\s+[A-Za-z_*(]|\bdelete\s+this\b)", everywhere, {},
          "naked delete: std::unique_ptr"),
      ban(R"(\b(malloc|calloc|realloc)\s*\()", everywhere, {}, "malloc: a container"),
      ban(R"(\bs?rand\s*\(|\brandom_device\b|\bmt19937)", product, {},
          "randomness: Runtime::random_bytes"),
      ban(R"(\bco_(await|return|yield)\b)", {"include/", "src/"}, {},
          "coroutines: g++ 12 miscompiles some"),
      ban(R"(\b(getaddrinfo|gethostbyname)\s*\()", product, {},
          "blocking name lookup cannot be cancelled: net/resolver"),
      ban(R"(\b(sprintf|vsprintf|strcpy|strcat|strtok|gets)\s*\()", everywhere, {},
          "unbounded or stateful C string call: std::string"),
      ban(R"(\bstrerror\s*\()", everywhere, {}, "strerror: std::generic_category().message()"),
      ban(R"(\b(std::)?system\s*\(|\bpopen\s*\()", product, {}, "a shell: fork and exec"),
      ban(R"(std::(cout|cerr|clog|printf|puts)\b|\bf?printf\s*\()", {"include/", "src/", "sim/"},
          {"src/cli/"}, "printing: return it, or tell the Observer; only the command prints"),
      ban(R"(\busing\s+namespace\s+(?!std::(chrono_)?literals|std::string_literals))", {"include/"},
          {}, "using namespace in a public header"),
      ban(R"(\b(assert)\s*\()", {"include/", "src/"}, {}, "assert vanishes in release: base/check"),
  };
  return table;
}

}  // namespace

std::vector<Finding> check_banned(const File& file) {
  std::vector<Finding> findings;
  if (!file.path.ends_with(".hpp") && !file.path.ends_with(".cpp")) {
    return findings;
  }
  const std::vector<std::string> lines = lines_of(code_only(file.text));
  for (const Ban& rule : bans()) {
    if (!starts_with_any(file.path, rule.where) || starts_with_any(file.path, rule.except)) {
      continue;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!lines[i].starts_with("#include") && std::regex_search(lines[i], rule.pattern)) {
        findings.push_back({file.path, i + 1, rule.instead});
      }
    }
  }
  return findings;
}

}  // namespace holdfast::tidy
