// `holdfast demo payout --matrix`: what each way to be safe lets through under each fault.
#pragma once

#include <cstdint>
#include <string>

namespace holdfast::cli {

struct MatrixOptions {
  std::string database{};  // postgres://…
  std::string store{};     // empty: a file of the demo's own
  std::int64_t orders = 20;
  int workers = 6;
  int runs = 1;  // of each case
  bool json = false;
};

// Exits 0 only if every order was paid and no case with a guard in the database paid one twice.
int play_payout_matrix(const MatrixOptions& options);

}  // namespace holdfast::cli
