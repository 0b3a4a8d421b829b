#include "store/sqlite/sqlite_factory.hpp"

#include "store/sqlite/crowd.hpp"
#include "store/sqlite/settings.hpp"
#include "store/sqlite/sqlite_store.hpp"

#include <utility>

namespace holdfast {

namespace sqlite {

class SqliteFactory final : public StoreFactory {
 public:
  explicit SqliteFactory(Settings settings)
      : settings_(std::make_shared<const Settings>(std::move(settings))),
        crowd_(std::make_shared<Crowd>()) {}

  std::unique_ptr<Store> open(Runtime& runtime) override {
    return std::make_unique<SqliteStore>(runtime, settings_, crowd_);
  }
  std::string url() const override { return settings_->url; }

 private:
  std::shared_ptr<const Settings> settings_;
  std::shared_ptr<Crowd> crowd_;
};

std::shared_ptr<StoreFactory> make_factory(Settings settings) {
  return std::make_shared<SqliteFactory>(std::move(settings));
}

}  // namespace sqlite

std::shared_ptr<StoreFactory> make_sqlite_factory(const StoreUrl& url) {
  return sqlite::make_factory(sqlite::Settings::from(url));
}

}  // namespace holdfast
