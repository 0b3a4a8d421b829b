#include "store/cluster/redirection.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace holdfast::cluster {

namespace {

using Kind = Redirection::Kind;

// "MOVED 3999 127.0.0.1:6381"
Redirection parse_place(Kind kind, std::string_view rest, const Address& answering) {
  Redirection found{.kind = Kind::trouble};
  const auto space = rest.find(' ');
  if (space == std::string_view::npos) {
    return found;
  }
  unsigned slot = 0;
  const auto [stop, error] = std::from_chars(rest.data(), rest.data() + space, slot);
  const auto to = Address::parse(rest.substr(space + 1), answering);
  if (error != std::errc{} || stop != rest.data() + space || slot >= slot_count || !to) {
    return found;
  }
  found.kind = kind;
  found.slot = static_cast<Slot>(slot);
  found.to = *to;
  return found;
}

// A script that met a key which has moved meanwhile. What it wrote before stays written; every
// script of ours may be run again.
constexpr std::string_view half_way = "Script attempted to access a non local key";

constexpr std::array troubles{std::string_view{"CLUSTERDOWN"}, std::string_view{"MASTERDOWN"},
                              std::string_view{"LOADING"}, std::string_view{"READONLY"}};

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ');
}

}  // namespace

Redirection parse_redirection(std::string_view error, const Address& answering) {
  if (error.starts_with("MOVED ")) {
    return parse_place(Kind::moved, error.substr(6), answering);
  }
  if (error.starts_with("ASK ")) {
    return parse_place(Kind::ask, error.substr(4), answering);
  }
  if (starts_with_word(error, "TRYAGAIN")) {
    return {.kind = Kind::unstable};
  }
  if (error.find(half_way) != std::string_view::npos) {
    return {.kind = Kind::unstable, .may_have_had_effect = true};
  }
  const bool trouble = std::ranges::any_of(
      troubles, [error](std::string_view word) { return starts_with_word(error, word); });
  return {.kind = trouble ? Kind::trouble : Kind::none};
}

}  // namespace holdfast::cluster
