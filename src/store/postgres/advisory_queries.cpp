#include "store/postgres/advisory_queries.hpp"

#include "store/postgres/queries.hpp"

namespace holdfast::postgres {

namespace {

constexpr int key_column = 9;  // `age` of lock_answer

const char* mode_text(Mode mode) { return mode == Mode::exclusive ? "0" : "1"; }

}  // namespace

Query try_query(const Claim& claim, const std::string& client) {
  Query query{"SELECT * FROM holdfast.lock_try("};
  add_claim(query, claim, client);
  query.sql += ")";
  query.once = true;
  return query;
}

std::int64_t key_of(const Table& granted) { return granted.integer(0, key_column); }

Query verify_query(const std::vector<std::string>& names, const std::vector<std::string>& owners) {
  return {"SELECT * FROM holdfast.lock_verify($1,$2)", {array_text(names), array_text(owners)}};
}

Query drop_query(const std::string& name, const OwnerId& owner, std::int64_t key, Mode mode) {
  Query query{"SELECT * FROM holdfast.lock_drop($1,$2,$3,$4)",
              {name, owner.text(), std::to_string(key), mode_text(mode)}};
  query.once = true;
  return query;
}

Query amend_hold_query(const Claim& claim, std::int64_t key) {
  Query query{"SELECT * FROM holdfast.lock_amend_hold($1,$2,$3,$4,$5)",
              {claim.name, claim.owner.text(), std::to_string(key), mode_text(claim.mode),
               bytea(claim.value)}};
  query.once = true;
  return query;
}

Query broken_holds_query(const std::string& client) {
  return {"SELECT * FROM holdfast.lock_broken_holds($1)", {client}};
}

Query break_hold_query(const std::string& name, BreakMode mode) {
  return {"SELECT * FROM holdfast.lock_break_hold($1,$2)",
          {name, mode == BreakMode::now ? "t" : "f"}};
}

Query inspect_holds_query(const std::string& name) {
  return {"SELECT * FROM holdfast.lock_inspect_holds($1)", {name}};
}

Query list_holds_query(const std::string& prefix, const std::string& cursor) {
  return {"SELECT * FROM holdfast.lock_list_holds($1,$2)", {prefix, cursor}};
}

}  // namespace holdfast::postgres
