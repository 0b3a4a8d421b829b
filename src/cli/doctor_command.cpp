#include <holdfast/client.hpp>

#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/host_findings.hpp"
#include "cli/look_options.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace holdfast::cli {

namespace {

const char* word_of(Finding::Level level) {
  switch (level) {
    case Finding::Level::good:
      return "good";
    case Finding::Level::note:
      return "note";
    case Finding::Level::warning:
      return "warning";
    case Finding::Level::failure:
      return "failure";
  }
  return "?";
}

void print(const Finding& finding, bool json) {
  const std::string word = word_of(finding.level);
  if (json) {
    const nlohmann::ordered_json object{
        {"level", word}, {"what", finding.what}, {"advice", finding.advice}};
    std::cout << object.dump() << '\n';
    return;
  }
  std::cout << word << std::string(9 - word.size(), ' ') << finding.what << '\n';
  if (!finding.advice.empty()) {
    std::cout << std::string(9, ' ') << "-> " << finding.advice << '\n';
  }
}

}  // namespace

int doctor_command(Arguments arguments) {
  LookOptions look;
  CommandLine line{"doctor", "Looks at the store and at this host, and says what to mend."};
  line.footer("Exits 0, or 69 if something keeps locks from working.");
  look.add_to(line);
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  Client client{look.store};
  std::vector<Finding> findings{{Finding::Level::good, "store " + client.url(), ""}};
  for (const auto& more : {host_findings(look.store), client.diagnose()}) {
    findings.insert(findings.end(), more.begin(), more.end());
  }
  for (const Finding& finding : findings) {
    print(finding, look.json);
  }
  const bool failed = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.level == Finding::Level::failure;
  });
  return failed ? exit_unavailable : exit_ok;
}

}  // namespace holdfast::cli
