#include "store/postgres/postgres_factory.hpp"

#include "runtime/event_loop.hpp"
#include "store/postgres/advisory_store.hpp"
#include "store/postgres/postgres_store.hpp"
#include "store/postgres/settings.hpp"

#include <mutex>

namespace holdfast {

namespace {

class PostgresFactory final : public StoreFactory {
 public:
  PostgresFactory(const StoreUrl& url, std::shared_ptr<const postgres::Settings> settings)
      : url_(url.text_without_password()), settings_(std::move(settings)) {}

  std::unique_ptr<Store> open(Runtime& runtime) override {
    if (settings_->mode == postgres::LockMode::lease) {
      return std::make_unique<postgres::PostgresStore>(EventLoop::of(runtime), settings_);
    }
    return std::make_unique<postgres::AdvisoryStore>(runtime, advisory_thread());
  }
  std::string url() const override { return url_; }

 private:
  std::shared_ptr<postgres::AdvisoryThread> advisory_thread() {
    const std::lock_guard lock(mutex_);
    auto thread = thread_.lock();
    if (!thread) {
      thread = std::make_shared<postgres::AdvisoryThread>(settings_);
      thread_ = thread;
    }
    return thread;
  }

  const std::string url_;
  const std::shared_ptr<const postgres::Settings> settings_;
  std::mutex mutex_{};
  std::weak_ptr<postgres::AdvisoryThread> thread_{};  // kept by the stores
};

}  // namespace

std::shared_ptr<StoreFactory> make_postgres_factory(const StoreUrl& url,
                                                    const std::string& password) {
  return std::make_shared<PostgresFactory>(
      url, std::make_shared<const postgres::Settings>(url, password));
}

}  // namespace holdfast
