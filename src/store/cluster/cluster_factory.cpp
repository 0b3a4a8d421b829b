#include "store/cluster/cluster_factory.hpp"

#include "runtime/event_loop.hpp"
#include "store/cluster/cluster_store.hpp"
#include "store/cluster/settings.hpp"

namespace holdfast {

namespace {

class ClusterFactory final : public StoreFactory {
 public:
  ClusterFactory(const StoreUrl& url, const std::string& password)
      : url_(url.text_without_password()),
        settings_(std::make_shared<const cluster::Settings>(url, password)) {}

  std::unique_ptr<Store> open(Runtime& runtime) override {
    return std::make_unique<cluster::ClusterStore>(EventLoop::of(runtime), settings_);
  }
  std::string url() const override { return url_; }

 private:
  const std::string url_;
  const std::shared_ptr<const cluster::Settings> settings_;
};

}  // namespace

std::shared_ptr<StoreFactory> make_cluster_factory(const StoreUrl& url,
                                                   const std::string& password) {
  return std::make_shared<ClusterFactory>(url, password);
}

}  // namespace holdfast
