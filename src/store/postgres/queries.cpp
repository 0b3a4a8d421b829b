#include "store/postgres/queries.hpp"

#include "base/hex.hpp"

namespace holdfast::postgres {

namespace {

constexpr int claim_fields = 16;

std::string us(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::microseconds>(duration).count());
}

std::string mode_text(Mode mode) { return mode == Mode::exclusive ? "0" : "1"; }

}  // namespace

std::string bytea(const std::string& bytes) {
  return "\\x" + to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

void add_claim(Query& query, const Claim& claim, const std::string& client) {
  const std::size_t first = query.parameters.size();
  query.sql += "ROW(";
  for (std::size_t i = 1; i <= claim_fields; ++i) {
    query.sql += (i == 1 ? "$" : ",$") + std::to_string(first + i);
  }
  query.sql += ")::holdfast.lock_claim";
  for (std::string& field : std::vector<std::string>{
           claim.name, claim.owner.text(), client, mode_text(claim.mode),
           std::to_string(claim.permits), std::to_string(claim.limit), us(claim.ttl),
           us(claim.liveness), us(claim.min_hold), us(claim.max_hold), us(claim.lock_delay),
           bytea(claim.run_id), bytea(claim.value), claim.who.host, std::to_string(claim.who.pid),
           claim.who.note}) {
    query.parameters.push_back(std::move(field));
  }
}

std::string array_text(const std::vector<std::string>& items) {
  std::string text = "{";
  for (const std::string& item : items) {
    text += text.size() > 1 ? ",\"" : "\"";
    for (const char c : item) {
      if (c == '"' || c == '\\') {
        text += '\\';
      }
      text += c;
    }
    text += '"';
  }
  return text + "}";
}

Query acquire_query(const Claim& claim, bool queue, const std::string& client) {
  Query query{"SELECT * FROM holdfast.lock_acquire("};
  add_claim(query, claim, client);
  query.sql += queue ? ", true)" : ", false)";
  return query;
}

Query acquire_all_query(std::span<const Claim> claims, const std::string& client) {
  Query query{"SELECT * FROM holdfast.lock_acquire_all(ARRAY["};
  for (const Claim& claim : claims) {
    query.sql += &claim == claims.data() ? "" : ",";
    add_claim(query, claim, client);
  }
  query.sql += "])";
  return query;
}

Query renew_query(std::span<const Claim> claims) {
  std::vector<std::string> names;
  std::vector<std::string> owners;
  std::vector<std::string> fences;
  std::vector<std::string> ttls;
  for (const Claim& claim : claims) {
    names.push_back(claim.name);
    owners.push_back(claim.owner.text());
    fences.push_back(std::to_string(to_int(claim.fence)));
    ttls.push_back(us(claim.ttl));
  }
  return {"SELECT * FROM holdfast.lock_renew($1,$2,$3,$4)",
          {array_text(names), array_text(owners), array_text(fences), array_text(ttls)}};
}

Query amend_query(const Claim& claim) {
  return {"SELECT * FROM holdfast.lock_amend($1,$2,$3,$4)",
          {claim.name, claim.owner.text(), mode_text(claim.mode), bytea(claim.value)}};
}

Query withdraw_query(const Claim& claim, const WithdrawOptions& options) {
  return {"SELECT * FROM holdfast.lock_withdraw($1,$2,$3,$4,$5,$6)",
          {claim.name, claim.owner.text(), options.tombstone ? us(claim.ttl) : "0",
           options.keep_min_hold ? "t" : "f", bytea(claim.run_id), us(options.remember)}};
}

Query break_query(const std::string& name, BreakMode mode) {
  return {"SELECT * FROM holdfast.lock_break($1,$2)", {name, mode == BreakMode::now ? "t" : "f"}};
}

Query inspect_query(const std::string& name) {
  return {"SELECT * FROM holdfast.lock_inspect($1)", {name}};
}

Query list_query(const std::string& prefix, const std::string& cursor) {
  return {"SELECT * FROM holdfast.lock_list($1,$2)", {prefix, cursor}};
}

}  // namespace holdfast::postgres
