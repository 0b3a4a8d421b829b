// What happened in a world, line by line: always as one hash, on request as text.
#pragma once

#include <holdfast/types.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace holdfast::sim {

class Trace {
 public:
  // Gets each line as it is noted, with its time in front.
  using Sink = std::function<void(const std::string& line)>;

  void note(Duration at, std::string_view line);
  void print_to(Sink sink) { sink_ = std::move(sink); }

  // FNV-1a, 64 bits, over all times and lines so far. Two runs with one hash did the same.
  std::uint64_t hash() const noexcept { return hash_; }

 private:
  void mix(std::string_view bytes);

  std::uint64_t hash_ = 0xcbf29ce484222325U;
  Sink sink_{};
};

}  // namespace holdfast::sim
