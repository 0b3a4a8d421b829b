#include "store/redis/redis_factory.hpp"

#include "runtime/event_loop.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/sentinel_locator.hpp"
#include "store/redis/settings.hpp"

namespace holdfast {

namespace {

class RedisFactory final : public StoreFactory {
 public:
  RedisFactory(const StoreUrl& url, const std::string& password)
      : url_(url.text_without_password()),
        settings_(std::make_shared<const redis::Settings>(url, password)) {}

  std::unique_ptr<Store> open(Runtime& runtime) override {
    EventLoop& loop = EventLoop::of(runtime);
    return std::make_unique<redis::RedisStore>(loop, settings_, locator(loop));
  }
  std::string url() const override { return url_; }

 private:
  std::unique_ptr<redis::Locator> locator(EventLoop& loop) const {
    if (settings_->sentinel) {
      return std::make_unique<redis::SentinelLocator>(loop, *settings_->sentinel,
                                                      settings_->commands, primary_);
    }
    return std::make_unique<redis::FixedLocator>(settings_->endpoint);
  }

  const std::string url_;
  const std::shared_ptr<const redis::Settings> settings_;
  const std::shared_ptr<redis::PrimaryPlace> primary_ = std::make_shared<redis::PrimaryPlace>();
};

}  // namespace

std::shared_ptr<StoreFactory> make_redis_factory(const StoreUrl& url, const std::string& password) {
  return std::make_shared<RedisFactory>(url, password);
}

}  // namespace holdfast
