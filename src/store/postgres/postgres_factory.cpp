#include "store/postgres/postgres_factory.hpp"

#include "runtime/event_loop.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/postgres/settings.hpp"

namespace holdfast {

namespace {

class PostgresFactory final : public StoreFactory {
 public:
  PostgresFactory(const StoreUrl& url, std::shared_ptr<const postgres::Settings> settings)
      : url_(url.text_without_password()), settings_(std::move(settings)) {}

  std::unique_ptr<Store> open(Runtime& runtime) override {
    return std::make_unique<postgres::PostgresStore>(EventLoop::of(runtime), settings_);
  }
  std::string url() const override { return url_; }

 private:
  const std::string url_;
  const std::shared_ptr<const postgres::Settings> settings_;
};

}  // namespace

std::shared_ptr<StoreFactory> make_postgres_factory(const StoreUrl& url,
                                                    const std::string& password) {
  return std::make_shared<PostgresFactory>(
      url, std::make_shared<const postgres::Settings>(url, password));
}

}  // namespace holdfast
