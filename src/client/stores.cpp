#include "client/stores.hpp"

#include <holdfast/error.hpp>

#include "base/store_url.hpp"
#include "client/default_store.hpp"
#include "client/module_store.hpp"
#include "client/password.hpp"
#include "store/memory/memory_store.hpp"
#ifdef HOLDFAST_WITH_SQLITE
#include "store/sqlite/sqlite_factory.hpp"
#endif
#ifdef HOLDFAST_WITH_REDIS
#include "store/cluster/cluster_factory.hpp"
#include "store/redis/redis_factory.hpp"
#endif

namespace holdfast {

namespace {

#ifdef HOLDFAST_WITH_SQLITE
constexpr const char* without_sqlite = "";
#else
constexpr const char* without_sqlite = "built without SQLite";
#endif
#ifdef HOLDFAST_WITH_REDIS
constexpr const char* without_redis = "";
#else
constexpr const char* without_redis = "built without Redis";
#endif
#ifdef HOLDFAST_WITH_POSTGRES
constexpr bool with_postgres = true;
#else
constexpr bool with_postgres = false;
#endif
#ifdef HOLDFAST_WITH_ETCD
constexpr bool with_etcd = true;
#else
constexpr bool with_etcd = false;
#endif

// A store that is opened from a file of its own when a URL asks for it.
struct ModuleStore {
  const char* scheme;
  bool built;
  const char* library;  // without which it is not built
  ModuleName module;
};
constexpr ModuleStore module_stores[] = {
    {"postgres",
     with_postgres,
     "libpq",
     {"holdfast-postgres.so", "PostgreSQL", "holdfast-postgres"}},
    {"etcd", with_etcd, "gRPC", {"holdfast-etcd.so", "etcd", "holdfast-etcd"}},
};

const ModuleStore* find_module_store(std::string_view scheme) {
  for (const ModuleStore& store : module_stores) {
    if (store.scheme == scheme) {
      return &store;
    }
  }
  return nullptr;
}

std::string missing_of(const ModuleStore& store) {
  if (!store.built) {
    return std::string{"built without "} + store.library;
  }
  return find_module(store.module).empty()
             ? std::string{store.module.file} + " is not installed (Debian: the package " +
                   store.module.package + ")"
             : "";
}

constexpr const char* redis_promise =
    "survives holder crash, restart with persistence, network loss; a failover or a clock step "
    "of the server can end a lease early: use a guard";

constexpr const char* cluster_promise =
    "survives holder crash, slot moves, network loss; one failure domain: a failover or a clock "
    "step can end a lease early: use a guard";

std::string known_schemes() {
  std::string list;
  for (const StoreKind& kind : store_kinds()) {
    if (kind.missing.empty()) {
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
      {"memory", "memory:NAME", "threads of one process", "ends with the process", true, ""},
      {"sqlite", "sqlite:///var/lib/app/locks.db", "processes of one host that may use the file",
       "survives holder crash, reboot, clock jumps; refused on network file systems", true,
       without_sqlite},
      {"redis", "redis://user@db1:6379/0", "all hosts that reach the server", redis_promise, true,
       without_redis},
      {"rediss", "rediss://db1:6379/0?tls_ca=/etc/ca.pem", "the same, over TLS", redis_promise,
       true, without_redis},
      {"redis+unix", "redis+unix:///run/redis.sock",
       "processes of one host that may use the socket", redis_promise, true, without_redis},
      {"redis+sentinel", "redis+sentinel://s1:26379,s2,s3/mymaster/0",
       "all hosts that reach the sentinels and the primary", redis_promise, true, without_redis},
      {"rediss+sentinel", "rediss+sentinel://s1:26379,s2,s3/mymaster?tls_ca=/etc/ca.pem",
       "the same, over TLS", redis_promise, true, without_redis},
      {"redis+cluster", "redis+cluster://n1:7000,n2,n3", "all hosts that reach the nodes",
       cluster_promise, true, without_redis},
      {"rediss+cluster", "rediss+cluster://n1:7000,n2,n3?tls_ca=/etc/ca.pem", "the same, over TLS",
       cluster_promise, true, without_redis},
      {"postgres", "postgres://app@db1/app?mode=lease", "all hosts that reach the server",
       "survives holder crash, restart, network loss; expiry is judged by the server's clock. "
       "mode=advisory: ends with its session, no TTL, by chance",
       true, missing_of(module_stores[0])},
      {"etcd", "etcd://n1:2379,n2,n3", "all hosts that reach the cluster",
       "survives holder crash, restart, failover and partition of a minority", true,
       missing_of(module_stores[1])},
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
  if (parsed.scheme == "redis" || parsed.scheme == "rediss" || parsed.scheme == "redis+unix" ||
      parsed.scheme == "redis+sentinel" || parsed.scheme == "rediss+sentinel") {
    return make_redis_factory(parsed, password_for(parsed, password));
  }
  if (parsed.scheme == "redis+cluster" || parsed.scheme == "rediss+cluster") {
    return make_cluster_factory(parsed, password_for(parsed, password));
  }
#endif
  if (const ModuleStore* const found = find_module_store(parsed.scheme); found && found->built) {
    return make_module_store(found->module, parsed, password_for(parsed, password));
  }
  throw Error{errc::invalid_url,
              "this build has no store for " + parsed.scheme + ":; it has " + known_schemes()};
}

}  // namespace holdfast
