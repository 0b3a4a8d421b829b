#include "client/stores.hpp"

#include <holdfast/error.hpp>

#include "base/store_url.hpp"
#include "client/default_store.hpp"
#include "client/password.hpp"
#include "store/memory/memory_store.hpp"
#ifdef HOLDFAST_WITH_SQLITE
#include "store/sqlite/sqlite_factory.hpp"
#endif
#ifdef HOLDFAST_WITH_REDIS
#include "store/redis/redis_factory.hpp"
#endif

namespace holdfast {

namespace {

#ifdef HOLDFAST_WITH_SQLITE
constexpr bool with_sqlite = true;
#else
constexpr bool with_sqlite = false;
#endif
#ifdef HOLDFAST_WITH_REDIS
constexpr bool with_redis = true;
#else
constexpr bool with_redis = false;
#endif

constexpr const char* redis_promise =
    "survives holder crash, restart with persistence, network loss; a failover or a clock step "
    "of the server can end a lease early: use a guard";

std::string known_schemes() {
  std::string list;
  for (const StoreKind& kind : store_kinds()) {
    if (kind.built) {
      list += (list.empty() ? "" : ", ") + kind.scheme;
    }
  }
  return list;
}

std::shared_ptr<StoreFactory> make_memory(const StoreUrl& url) {
  if (!url.hosts.empty() || !url.query.empty()) {
    throw Error{errc::invalid_url, "memory: takes a name and nothing else: memory:NAME"};
  }
  return make_memory_factory(url.path);
}

}  // namespace

const std::vector<StoreKind>& store_kinds() {
  static const std::vector<StoreKind> kinds{
      {"memory", "memory:NAME", "threads of one process", "ends with the process", true, true},
      {"sqlite", "sqlite:///var/lib/app/locks.db", "processes of one host that may use the file",
       "survives holder crash, reboot, clock jumps; refused on network file systems", true,
       with_sqlite},
      {"redis", "redis://user@db1:6379/0", "all hosts that reach the server", redis_promise, true,
       with_redis},
      {"rediss", "rediss://db1:6379/0?tls_ca=/etc/ca.pem", "the same, over TLS", redis_promise,
       true, with_redis},
      {"redis+unix", "redis+unix:///run/redis.sock",
       "processes of one host that may use the socket", redis_promise, true, with_redis},
  };
  return kinds;
}

std::shared_ptr<StoreFactory> make_store_factory(std::string_view url,
                                                 [[maybe_unused]] const std::string& password) {
  const std::string chosen = url.empty() ? default_store_url() : std::string{url};
  const StoreUrl parsed = StoreUrl::parse(chosen);
  if (parsed.scheme == "memory") {
    return make_memory(parsed);
  }
#ifdef HOLDFAST_WITH_SQLITE
  if (parsed.scheme == "sqlite") {
    if (parsed.path == default_store_file()) {
      make_default_store_folder();
    }
    return make_sqlite_factory(parsed);
  }
#endif
#ifdef HOLDFAST_WITH_REDIS
  if (parsed.scheme == "redis" || parsed.scheme == "rediss" || parsed.scheme == "redis+unix") {
    return make_redis_factory(parsed, password_for(parsed, password));
  }
#endif
  throw Error{errc::invalid_url,
              "this build has no store for " + parsed.scheme + ":; it has " + known_schemes()};
}

}  // namespace holdfast
