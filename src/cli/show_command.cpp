#include <holdfast/client.hpp>

#include "base/duration_text.hpp"
#include "cli/command.hpp"
#include "cli/exit_code.hpp"
#include "cli/holder_text.hpp"
#include "cli/look_options.hpp"

#include <nlohmann/json.hpp>

#include <iostream>

namespace holdfast::cli {

namespace {

void print(const NameView& view) {
  if (view.holders.empty()) {
    std::cout << view.name << " is free\n";
  }
  for (const Holder& holder : view.holders) {
    std::cout << view.name << " is " << held_text(holder) << '\n'
              << "  fence " << to_int(holder.fence) << ", owner " << holder.owner.text() << '\n'
              << "  ends in " << duration_text(holder.ttl_left) << " unless renewed"
              << (holder.broken ? "; broken, waiting for the holder to answer" : "") << '\n';
    if (!holder.value.empty()) {
      std::cout << "  value " << plain_text(holder.value) << '\n';
    }
  }
  for (const Waiter& waiter : view.waiters) {
    const std::string way = way_text(waiter.mode, waiter.permits, waiter.limit);
    std::cout << "  waiting: " << who_text(waiter.who) << " for "
              << duration_text(waiter.waiting_for) << (way.empty() ? "" : ", " + way) << '\n';
  }
  if (view.holders.empty() && view.last_fence != Fence::none) {
    std::cout << "  last fence " << to_int(view.last_fence) << '\n';
  }
}

}  // namespace

int show_command(Arguments arguments) {
  LookOptions look;
  std::string name;
  CommandLine line{"show", "Shows who holds NAME and who waits for it, in order."};
  line.positional("NAME", name, "What to look at");
  look.add_to(line);
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  Client client{look.store};
  const NameView view = client.inspect(name);
  if (look.json) {
    std::cout << to_json(view).dump() << '\n';
  } else {
    print(view);
  }
  return exit_ok;
}

}  // namespace holdfast::cli
