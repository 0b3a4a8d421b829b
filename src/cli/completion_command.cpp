#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/exit_code.hpp"

#include <iostream>

namespace holdfast::cli {

namespace {

// Options are asked of the command itself, so that a completion never goes out of date. Behind
// "--" the shell completes the command that is to be run.

std::string bash(const std::string& names) {
  return "_holdfast() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} i\n"
         "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
         "    if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
         "      if ((COMP_CWORD == i + 1)); then COMPREPLY=($(compgen -c -- \"$word\"))\n"
         "      else COMPREPLY=($(compgen -f -- \"$word\")); fi\n"
         "      return\n"
         "    fi\n"
         "  done\n"
         "  if ((COMP_CWORD == 1)); then\n"
         "    COMPREPLY=($(compgen -W \"" +
         names +
         " --help --version\" -- \"$word\"))\n"
         "  elif [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$(holdfast \"${COMP_WORDS[1]}\" --help 2>/dev/null |\n"
         "      grep -oE -- '--[a-z][a-z-]*' | sort -u)\" -- \"$word\"))\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _holdfast holdfast\n";
}

std::string zsh() {
  std::string text =
      "#compdef holdfast\n"
      "_holdfast() {\n"
      "  local dashes=${words[(i)--]}\n"
      "  if ((dashes < CURRENT)); then\n"
      "    shift dashes words\n"
      "    ((CURRENT -= dashes))\n"
      "    _normal\n"
      "  elif ((CURRENT == 2)); then\n"
      "    local -a commands=(\n";
  for (const Command& command : commands()) {
    text.append("      '").append(command.name).append(":").append(command.summary).append("'\n");
  }
  return text +
         "    )\n"
         "    _describe command commands\n"
         "  else\n"
         "    local -a options=(${(f)\"$(holdfast ${words[2]} --help 2>/dev/null |\n"
         "      grep -oE -- '--[a-z][a-z-]*' | sort -u)\"})\n"
         "    compadd -a options\n"
         "  fi\n"
         "}\n"
         "if [[ $funcstack[1] == _holdfast ]]; then _holdfast; else compdef _holdfast holdfast; "
         "fi\n";
}

std::string fish() {
  std::string text = "complete -c holdfast -f\n";
  for (const Command& command : commands()) {
    text.append("complete -c holdfast -n __fish_use_subcommand -a ").append(command.name);
    text.append(" -d '").append(command.summary).append("'\n");
  }
  return text +
         "complete -c holdfast -n 'not __fish_use_subcommand' -a "
         "\"(set -l words (commandline -opc); holdfast $words[2] --help 2>/dev/null | "
         "string match -ar -- '--[a-z][a-z-]*')\"\n"
         "complete -c holdfast -n 'contains -- -- (commandline -opc)' -F\n";
}

}  // namespace

int completion_command(Arguments arguments) {
  std::string shell;
  CommandLine line{"completion", "Prints completions: source <(holdfast completion bash)"};
  line.positional("SHELL", shell, "bash, zsh or fish");
  if (const auto code = line.parse(arguments)) {
    return *code;
  }
  std::string names;
  for (const Command& command : commands()) {
    names.append(names.empty() ? "" : " ").append(command.name);
  }
  if (shell == "bash") {
    std::cout << bash(names);
  } else if (shell == "zsh") {
    std::cout << zsh();
  } else if (shell == "fish") {
    std::cout << fish();
  } else {
    throw UsageError{"no completions for '" + shell + "'; use bash, zsh or fish"};
  }
  return exit_ok;
}

}  // namespace holdfast::cli
