// The rows that a query answered, as text, and what went wrong where none came.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace holdfast::postgres {

class Table {
 public:
  explicit Table(PGresult* result) : result_(result) {}

  int rows() const { return PQntuples(result_.get()); }
  std::string_view text(int row, int column) const {
    return {PQgetvalue(result_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
  }
  std::int64_t integer(int row, int column) const;  // zero for null
  const PGresult* get() const noexcept { return result_.get(); }

 private:
  struct Clear {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

struct Trouble {
  std::string sqlstate{};  // empty: the connection failed, not the statement
  std::string words{};     // one line
  bool fatal = false;      // the session has ended, or is of no more use
};

using Outcome = std::variant<Table, Trouble>;

// `script`: several statements, no parameters and no rows. `once`: not to be sent again by itself.
struct Query {
  std::string sql{};
  std::vector<std::string> parameters{};
  bool script = false;
  bool once = false;
};

}  // namespace holdfast::postgres
