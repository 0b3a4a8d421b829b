#include "tests/chaos/test_store.hpp"

#include "client/stores.hpp"
#include "runtime/host.hpp"
#include "store/memory/memory_store.hpp"
#include "tests/chaos/soak.hpp"
#include "tests/support/required.hpp"
#ifdef HOLDFAST_WITH_SQLITE
#include "tests/chaos/sqlite_test_store.hpp"
#endif
#ifdef HOLDFAST_WITH_REDIS
#include "tests/chaos/redis_test_store.hpp"
#endif
#ifdef HOLDFAST_WITH_POSTGRES
#include "tests/chaos/postgres_test_store.hpp"
#endif

#include <algorithm>
#include <array>

namespace holdfast::chaos {

namespace {

class FaultyLink final : public Link {
 public:
  explicit FaultyLink(std::shared_ptr<StoreFactory> stores) : stores_(std::move(stores)) {}

  std::unique_ptr<Client> connect(ClientOptions options) override {
    return std::make_unique<Client>(make_faulty_factory(stores_, network_), make_host(),
                                    std::move(options));
  }
  void fault(Fault fault) override { network_->fault = fault; }
  void reset() override { network_->reset(); }
  void delay(std::chrono::milliseconds answers) override { network_->delay = answers; }

 private:
  std::shared_ptr<StoreFactory> stores_;
  std::shared_ptr<Network> network_ = std::make_shared<Network>();
};

// The cases that the strict stores are for.
[[maybe_unused]] bool is_for_strict_stores(std::string_view suite) {
  constexpr std::array strict{"C01", "C02", "C05Library", "C09", "C17Store", "C34StandardLocks",
                              "C44"};
  return std::ranges::find(strict, suite) != strict.end();
}

class MemoryTestStore final : public TestStore {
 public:
  std::string url() const override { return stores_->url(); }
  bool between_processes() const override { return false; }
  std::unique_ptr<Client> connect(ClientOptions options) override {
    return std::make_unique<Client>(stores_, make_host(), std::move(options));
  }
  std::unique_ptr<Link> link() override { return std::make_unique<FaultyLink>(stores_); }
  // Nobody has a shell to this store; an operator who breaks the name comes closest.
  void erase(const std::string& name) override {
    static_cast<void>(connect({})->break_name(name, BreakMode::now));
  }

 private:
  std::shared_ptr<StoreFactory> stores_ = make_memory_factory("");
};

}  // namespace

std::unique_ptr<Link> make_faulty_link(const std::string& url) {
  return std::make_unique<FaultyLink>(make_store_factory(url, ""));
}

std::vector<std::string> store_kinds(std::string_view suite) {
  std::vector<std::string> kinds = shared_store_kinds(suite);
  kinds.insert(kinds.begin(), "memory");
  return kinds;
}

std::vector<std::string> shared_store_kinds([[maybe_unused]] std::string_view suite) {
  std::vector<std::string> kinds;
#ifdef HOLDFAST_WITH_SQLITE
  kinds.emplace_back("sqlite");
#endif
#ifdef HOLDFAST_WITH_REDIS
  kinds.emplace_back("redis");
#endif
#ifdef HOLDFAST_WITH_POSTGRES
  if (soak() || is_for_strict_stores(suite)) {
    kinds.emplace_back("postgres");
  }
#endif
  return kinds;
}

std::vector<std::string> networked_store_kinds(std::string_view suite) {
  std::vector<std::string> kinds = store_kinds(suite);
  std::erase(kinds, "sqlite");
  return kinds;
}

std::unique_ptr<TestStore> start_store(const std::string& kind, [[maybe_unused]] std::string& why) {
  if (kind == "memory") {
    return std::make_unique<MemoryTestStore>();
  }
#ifdef HOLDFAST_WITH_SQLITE
  if (kind == "sqlite") {
    return start_sqlite();
  }
#endif
#ifdef HOLDFAST_WITH_REDIS
  if (kind == "redis") {
    if (test::RedisServer::installed()) {
      return std::make_unique<RedisTestStore>();
    }
    why = test::RedisServer::how_to_install;
  }
#endif
#ifdef HOLDFAST_WITH_POSTGRES
  if (kind == "postgres") {
    if (test::PostgresServer::installed()) {
      return std::make_unique<PostgresTestStore>();
    }
    why = test::PostgresServer::how_to_install;
  }
#endif
  return nullptr;
}

void OnEveryStore::SetUp() {
  std::string why;
  const std::string kind = GetParam().substr(0, GetParam().find('_'));  // a form may follow
  store_ = start_store(kind, why);
  if (!store_) {
    if (test::is_required(kind)) {
      FAIL() << why;
    }
    GTEST_SKIP() << why;
  }
}

}  // namespace holdfast::chaos
