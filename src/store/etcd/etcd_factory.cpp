#include "store/etcd/etcd_factory.hpp"

#include "store/etcd/client.hpp"
#include "store/etcd/etcd_store.hpp"
#include "store/etcd/settings.hpp"

#include <mutex>

namespace holdfast {

namespace {

class EtcdFactory final : public StoreFactory {
 public:
  EtcdFactory(const StoreUrl& url, const std::string& password)
      : url_(url.text_without_password()),
        settings_(std::make_shared<const etcd::Settings>(url, password)) {}

  std::unique_ptr<Store> open(Runtime& runtime) override {
    const std::scoped_lock lock(mutex_);
    if (!client_) {
      client_ = std::make_shared<etcd::Client>(*settings_);
    }
    return std::make_unique<etcd::EtcdStore>(runtime, settings_, client_);
  }
  std::string url() const override { return url_; }

 private:
  const std::string url_;
  const std::shared_ptr<const etcd::Settings> settings_;
  std::mutex mutex_{};
  std::shared_ptr<etcd::Client> client_{};  // made late: a program may fork before
};

}  // namespace

std::shared_ptr<StoreFactory> make_etcd_factory(const StoreUrl& url, const std::string& password) {
  return std::make_shared<EtcdFactory>(url, password);
}

}  // namespace holdfast
