#include "runtime/host.hpp"

#include "runtime/event_loop.hpp"
#include "runtime/loop_thread.hpp"
#include "runtime/notifier_pool.hpp"

namespace holdfast {

namespace {

class RealHost final : public Host {
 public:
  std::unique_ptr<Loop> start_loop() override { return std::make_unique<LoopThread>(); }
  std::unique_ptr<Lane> make_lane() override { return std::make_unique<EventLoop>(); }
  std::unique_ptr<Notifier> make_notifier() override { return std::make_unique<NotifierPool>(); }
};

}  // namespace

std::unique_ptr<Host> make_host() { return std::make_unique<RealHost>(); }

}  // namespace holdfast
