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

void print(const std::string& name, const BreakDone& done, bool now) {
  if (done.holders.empty()) {
    std::cout << "nobody holds " << name << '\n';
  }
  for (const Holder& holder : done.holders) {
    if (now) {
      std::cout << name << " is free now; " << who_text(holder.who)
                << " may still be at work: what both write overlaps unless a guard refuses fence "
                << to_int(holder.fence) << '\n';
    } else {
      std::cout << name << " is marked as broken; it frees when " << who_text(holder.who)
                << " has stopped, or in " << duration_text(holder.ttl_left) << '\n';
    }
  }
}

}  // namespace

int break_command(Arguments arguments) {
  LookOptions look;
  std::string name;
  bool now = false;
  CommandLine line{"break", "Takes NAME away: its holder is told, stops, and the name frees."};
  line.positional("NAME", name, "What to take away");
  line.flag("--now", now, "Free it at once, without waiting for the holder: work may overlap");
  look.add_to(line);
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  Client client{look.store};
  const BreakDone done = client.break_name(name, now ? BreakMode::now : BreakMode::ask_holder);
  if (look.json) {
    nlohmann::ordered_json object{{"name", name}, {"now", now}};
    object["holders"] = nlohmann::ordered_json::array();
    for (const Holder& holder : done.holders) {
      object["holders"].push_back(to_json(holder));
    }
    std::cout << object.dump() << '\n';
  } else {
    print(name, done, now);
  }
  return exit_ok;
}

}  // namespace holdfast::cli
