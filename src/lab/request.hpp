// What somebody wants to see: a story with its switches or free play with its knobs, and a seed; as
// it stands in the page's address and on the command line.
//
//   const Request request = parse_request({{"story", "gc-pause"}, {"guard", "on"}, {"seed", "7"}});
//   const sim::Timeline timeline = sim::tell(request.trial);
#pragma once

#include "sim/stories/story.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace holdfast::lab {

// One line for people: what is wrong with what they asked for.
class BadRequest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Request {
  const sim::Story* story = nullptr;  // null: free play
  std::map<std::string, bool, std::less<>> turned{};
  sim::Trial trial{};
};

// `story` (none: free play), `seed`, and the switches or knobs. Throws BadRequest for unknown
// names, repeated ones, and values out of range.
Request parse_request(const Pairs& pairs);

// "story=gc-pause&guard=on&seed=7": what differs from the defaults, and the seed. Parses back to
// the same request.
std::string address_of(const Request& request);

// A number from 0 to 2^53 - 1, which scripts of pages can hold; throws BadRequest.
std::uint64_t parse_number(const std::string& name, const std::string& value);

}  // namespace holdfast::lab
