#include "bench/report.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>

namespace holdfast::bench {

namespace {

void print_text(const Table& table) {
  std::printf("\n%s\n  %s\n", table.title.c_str(), table.how.c_str());
  if (!table.rows.empty()) {
    std::printf("  %-44s %10s %10s %7s %6s\n", "", "median us", "p99 us", "ratio", "goal");
  }
  for (const Row& row : table.rows) {
    std::printf("  %-44s %10.1f %10.1f", row.name.c_str(), row.median_us, row.p99_us);
    row.ratio ? std::printf(" %7.2f", *row.ratio) : std::printf(" %7s", "floor");
    row.goal ? std::printf(" %6.2f", *row.goal) : std::printf(" %6s", "");
    std::printf("  %s\n", row.note.c_str());
  }
  for (const Figure& figure : table.figures) {
    std::printf("  %-44s %10s  (goal: at most %s)\n", figure.name.c_str(), figure.value.c_str(),
                figure.goal.c_str());
  }
}

nlohmann::json as_json(const Table& table) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : table.rows) {
    nlohmann::json one{{"name", row.name}, {"median_us", row.median_us}, {"p99_us", row.p99_us}};
    if (row.ratio) {
      one["ratio"] = *row.ratio;
    }
    if (row.goal) {
      one["goal"] = *row.goal;
    }
    if (!row.note.empty()) {
      one["note"] = row.note;
    }
    rows.push_back(std::move(one));
  }
  nlohmann::json figures = nlohmann::json::array();
  for (const Figure& figure : table.figures) {
    figures.push_back({{"name", figure.name}, {"value", figure.value}, {"goal", figure.goal}});
  }
  return {{"title", table.title},
          {"how", table.how},
          {"rows", std::move(rows)},
          {"figures", std::move(figures)}};
}

}  // namespace

Row floor_row(const Series& floor) {
  return {.name = floor.name(), .median_us = floor.quantile(0.5), .p99_us = floor.quantile(0.99)};
}

Row row(const Series& series, const Series& floor, std::optional<double> goal) {
  Row made = floor_row(series);
  made.ratio = series.quantile(0.5) / floor.quantile(0.5);
  made.goal = goal;
  return made;
}

void print(const std::vector<Table>& tables, bool json) {
  if (!json) {
    for (const Table& table : tables) {
      print_text(table);
    }
    return;
  }
  nlohmann::json all = nlohmann::json::array();
  for (const Table& table : tables) {
    all.push_back(as_json(table));
  }
  std::cout << all.dump(2) << '\n';
}

}  // namespace holdfast::bench
