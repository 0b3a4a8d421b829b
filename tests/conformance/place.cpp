#include "tests/conformance/place.hpp"

#include "runtime/event_loop.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/conformance/place_sim.hpp"

#ifdef HOLDFAST_WITH_SQLITE
#include "store/sqlite/sqlite_factory.hpp"
#include "tests/support/temp_dir.hpp"
#endif
#ifdef HOLDFAST_WITH_REDIS
#include "store/cluster/cluster_factory.hpp"
#include "store/redis/redis_factory.hpp"
#include "tests/support/redis_cluster.hpp"
#include "tests/support/redis_sentinels.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/test_certificates.hpp"
#endif

#ifdef HOLDFAST_WITH_POSTGRES
#include "client/stores.hpp"
#include "tests/support/postgres_server.hpp"
#endif

#include <utility>

namespace holdfast::conformance {

namespace {

// A place behind one StoreFactory on the real runtime. `make` makes another client's factory.
class FactoryPlace : public Place {
 public:
  using Make = std::function<std::shared_ptr<StoreFactory>()>;
  explicit FactoryPlace(Make make) : make_(std::move(make)), ours_(make_()) {}

  Lane& lane() override { return lane_; }
  std::unique_ptr<Store> open() override { return ours_->open(lane_); }
  std::unique_ptr<Store> open_elsewhere() override { return factory_elsewhere()->open(lane_); }
  std::shared_ptr<StoreFactory> factory() override { return ours_; }
  std::shared_ptr<StoreFactory> factory_elsewhere() override {
    if (!theirs_) {
      theirs_ = make_();
    }
    return theirs_;
  }

 protected:
  void close_and_make_again() {
    theirs_.reset();
    ours_.reset();
    ours_ = make_();
  }

 private:
  Make make_;
  EventLoop lane_{};
  std::shared_ptr<StoreFactory> ours_;
  std::shared_ptr<StoreFactory> theirs_{};
};

std::unique_ptr<Place> make_memory_place() {
  static int made = 0;
  return std::make_unique<FactoryPlace>(
      [name = "conformance-" + std::to_string(++made)] { return make_memory_factory(name); });
}

#ifdef HOLDFAST_WITH_SQLITE
class SqlitePlace final : public FactoryPlace {
 public:
  explicit SqlitePlace(std::shared_ptr<test::TempDir> folder)
      : FactoryPlace([folder] {
          return make_sqlite_factory(
              StoreUrl::parse("sqlite://" + (*folder / "locks.db").string()));
        }) {}
  bool reopen() override {
    close_and_make_again();
    return true;
  }
};
#endif

#ifdef HOLDFAST_WITH_REDIS
enum class Way { plain, tls, unix_socket };

// One server a way for all tests of the process; each test has its own prefix.
test::RedisServer& redis_server(Way way) {
  if (way == Way::tls) {
    static test::RedisServer server{{.tls = test::TestCertificates::Kind::good}};
    return server;
  }
  static test::RedisServer server;
  return server;
}

std::string redis_url(Way way) {
  static int made = 0;
  test::RedisServer& server = redis_server(way);
  const std::string url = way == Way::unix_socket ? server.unix_url() : server.url();
  const char* const joint = url.find('?') == std::string::npos ? "?" : "&";
  return url + joint + "prefix=test-" + std::to_string(++made) + ":";
}

class RedisPlace final : public FactoryPlace {
 public:
  explicit RedisPlace(Way way)
      : FactoryPlace(
            [url = redis_url(way)] { return make_redis_factory(StoreUrl::parse(url), ""); }),
        way_(way) {}
  bool restart() override {
    redis_server(way_).restart();
    return true;
  }
  bool wipe() override {
    redis_server(way_).command({"FLUSHALL"});
    return true;
  }
  bool reopen() override {
    close_and_make_again();
    return true;
  }

 private:
  Way way_;
};

std::string sentinel_url() {
  static test::RedisSentinels sentinels{{.sentinels = 1, .quorum = 1, .down_after_ms = 5000}};
  static int made = 0;
  return sentinels.url() + "?prefix=sentinel-" + std::to_string(++made) + ":";
}

// Nothing fails over here: the cases do that.
class SentinelPlace final : public FactoryPlace {
 public:
  SentinelPlace()
      : FactoryPlace(
            [url = sentinel_url()] { return make_redis_factory(StoreUrl::parse(url), ""); }) {}
  bool reopen() override {
    close_and_make_again();
    return true;
  }
};

Kind redis_kind(const char* name, Way way) {
  std::string why_not;
  if (!test::RedisServer::installed()) {
    why_not = test::RedisServer::how_to_install;
  } else if (way == Way::tls && !test::TestCertificates::possible()) {
    why_not = "there is no openssl command to make certificates with";
  }
  return {name, [way] { return std::make_unique<RedisPlace>(way); }, why_not};
}
#endif

#ifdef HOLDFAST_WITH_POSTGRES
// One database for all tests of the process, emptied for each: a new one costs more than most
// tests.
const std::string& postgres_database() {
  static const std::string url = test::PostgresServer::shared().new_database();
  return url;
}

void empty_postgres_database() {
  test::PostgresServer::run_at(
      postgres_database(),
      "DO $$ BEGIN IF to_regprocedure('holdfast.lock_version()') IS NOT NULL THEN "
      "DELETE FROM holdfast.lock_name; DELETE FROM holdfast.lock_lease; "
      "DELETE FROM holdfast.lock_waiter; DELETE FROM holdfast.lock_tombstone; "
      "DELETE FROM holdfast.lock_done; DELETE FROM holdfast.lock_hold; "
      "DELETE FROM holdfast.lock_key; UPDATE holdfast.lock_floor SET fence = 0; "
      "END IF; END $$");
}

class PostgresPlace final : public FactoryPlace {
 public:
  explicit PostgresPlace(const char* options)
      : FactoryPlace(
            [url = postgres_database() + options] { return make_store_factory(url, ""); }) {
    empty_postgres_database();
  }
  bool restart() override {
    test::PostgresServer::shared().restart();
    return true;
  }
  bool wipe() override {
    empty_postgres_database();
    return true;
  }
  bool reopen() override {
    close_and_make_again();
    return true;
  }
};

Kind postgres_kind(const char* name, const char* options) {
  return {name, [options] { return std::make_unique<PostgresPlace>(options); },
          test::PostgresServer::installed() ? "" : test::PostgresServer::how_to_install};
}
#endif

#ifdef HOLDFAST_WITH_REDIS
// One cluster for all tests of the process; each test has its own prefix.
test::RedisCluster& redis_cluster() {
  static test::RedisCluster cluster;
  return cluster;
}

// The suites that call acquire_all() need names that share a slot: there a tag in the prefix makes
// all of them do so.
std::string cluster_url() {
  static int made = 0;
  const std::string number = std::to_string(++made);
  const std::string suite =
      ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name();
  const bool one_slot =
      suite.find("StoreAll") != suite.npos || suite.find("StoreModel") != suite.npos;
  return redis_cluster().url("prefix=" +
                             (one_slot ? "{test-" + number + "}:" : "test-" + number + ":"));
}

class ClusterPlace final : public FactoryPlace {
 public:
  ClusterPlace()
      : FactoryPlace(
            [url = cluster_url()] { return make_cluster_factory(StoreUrl::parse(url), ""); }) {}
  bool wipe() override {
    for (std::size_t i = 0; i < redis_cluster().size(); ++i) {
      redis_cluster().node(i).command({"FLUSHALL"});
    }
    return true;
  }
  bool reopen() override {
    close_and_make_again();
    return true;
  }
};
#endif

std::vector<Kind> make_kinds() {
  std::vector<Kind> all{{"memory", make_memory_place, {}}};
#ifdef HOLDFAST_WITH_SQLITE
  all.push_back({"sqlite",
                 [] { return std::make_unique<SqlitePlace>(std::make_shared<test::TempDir>()); },
                 {}});
#endif
#ifdef HOLDFAST_WITH_REDIS
  all.push_back(redis_kind("redis", Way::plain));
  all.push_back(redis_kind("redis_tls", Way::tls));
  all.push_back(redis_kind("redis_unix", Way::unix_socket));
  all.push_back({"redis_sentinel", [] { return std::make_unique<SentinelPlace>(); },
                 test::RedisSentinels::installed() ? "" : test::RedisSentinels::how_to_install});
  all.push_back({"cluster", [] { return std::make_unique<ClusterPlace>(); },
                 test::RedisServer::installed() ? "" : test::RedisServer::how_to_install});
#endif
#ifdef HOLDFAST_WITH_POSTGRES
  all.push_back(postgres_kind("postgres", ""));
#endif
  return all;
}

}  // namespace

const std::vector<Kind>& kinds_with_threads() {
  static const std::vector<Kind> all = make_kinds();
  return all;
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> those = kinds_with_threads();
    those.push_back({"sim", make_sim_place, {}});
    return those;
  }();
  return all;
}

}  // namespace holdfast::conformance
