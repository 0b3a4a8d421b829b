#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/look_options.hpp"
#include "cli/table.hpp"
#include "client/stores.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace holdfast::cli {

int stores_command(Arguments arguments) {
  bool json = false;
  CommandLine line{"stores", "Lists the stores that this build has and what each promises."};
  line.flag("--json", json, "One JSON object a line");
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  for (const StoreKind& kind : store_kinds()) {
    if (json) {
      const nlohmann::ordered_json object{{"scheme", kind.scheme},   {"missing", kind.missing},
                                          {"example", kind.example}, {"scope", kind.scope},
                                          {"queue", kind.queue},     {"promise", kind.promise}};
      std::cout << object.dump() << '\n';
    } else {
      std::cout << kind.scheme << (kind.missing.empty() ? "" : "  (" + kind.missing + ")") << '\n'
                << table_text({{"  URL", kind.example},
                               {"  locks", kind.scope},
                               {"  waiting", kind.queue ? "first come, first served" : "by chance"},
                               {"  promise", kind.promise}});
    }
  }
  return exit_ok;
}

}  // namespace holdfast::cli
