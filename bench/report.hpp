// What a benchmark found: a table for people, JSON for scripts.
#pragma once

#include "bench/series.hpp"

#include <optional>
#include <string>
#include <vector>

namespace holdfast::bench {

struct Row {
  std::string name{};
  double median_us = 0;
  double p99_us = 0;
  std::optional<double> ratio{};  // median over the floor's median; the floor itself has none
  std::optional<double> goal{};   // the ratio must not be above it
  std::string note{};
};

// Something else than a latency, and what it must not be above.
struct Figure {
  std::string name{};
  std::string value{};
  std::string goal{};
};

struct Table {
  std::string title{};
  std::string how{};  // where client and server ran, how often
  std::vector<Row> rows{};
  std::vector<Figure> figures{};
};

// The first series is the floor.
Row floor_row(const Series& floor);
Row row(const Series& series, const Series& floor, std::optional<double> goal = {});

void print(const std::vector<Table>& tables, bool json);

}  // namespace holdfast::bench
