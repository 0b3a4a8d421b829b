#include "store/redis/redis_factory.hpp"

#include "runtime/event_loop.hpp"
#include "store/redis/redis_store.hpp"
#include "store/redis/settings.hpp"

namespace holdfast {

namespace {

class RedisFactory final : public StoreFactory {
 public:
  RedisFactory(const StoreUrl& url, const std::string& password)
      : url_(url.text_without_password()),
        settings_(std::make_shared<const redis::Settings>(url, password)) {}

  std::unique_ptr<Store> open(Runtime& runtime) override {
    return std::make_unique<redis::RedisStore>(
        EventLoop::of(runtime), settings_,
        std::make_unique<redis::FixedLocator>(settings_->endpoint));
  }
  std::string url() const override { return url_; }

 private:
  const std::string url_;
  const std::shared_ptr<const redis::Settings> settings_;
};

}  // namespace

std::shared_ptr<StoreFactory> make_redis_factory(const StoreUrl& url, const std::string& password) {
  return std::make_shared<RedisFactory>(url, password);
}

}  // namespace holdfast
