#include "cli/overview.hpp"

#include "cli/command.hpp"

namespace holdfast::cli {

namespace {

constexpr const char* head =
    "holdfast: one of many processes does a thing, and the storage refuses the one that came back\n"
    "too late.\n"
    "\n"
    "Usage: holdfast COMMAND [OPTIONS]\n"
    "\n";

constexpr const char* tail =
    "\n"
    "Try it:\n"
    "  holdfast run payout -- ./payout.sh     the second one says who holds it and exits 75\n"
    "  holdfast demo payout                   six processes race, one is frozen, nobody pays "
    "twice\n"
    "\n"
    "Where locks are kept: --store URL or HOLDFAST_STORE. Without them a file is used that locks\n"
    "FOR THIS USER ON THIS HOST ONLY; across hosts use a server: --store redis://db1:6379\n"
    "(holdfast stores lists them, holdfast doctor looks at yours).\n"
    "\n"
    "Each option has a variable: --busy-exit is HOLDFAST_BUSY_EXIT. Passwords: HOLDFAST_PASSWORD,\n"
    "HOLDFAST_PASSWORD_FILE, or password_file= in the URL.\n"
    "\n"
    "holdfast COMMAND --help tells more; holdfast --version tells the version.\n";

}  // namespace

std::string overview() {
  std::string text = head;
  for (const Command& command : commands()) {
    text.append("  ").append(command.name).append(12 - command.name.size(), ' ');
    text.append(command.summary).push_back('\n');
  }
  return text + tail;
}

}  // namespace holdfast::cli
