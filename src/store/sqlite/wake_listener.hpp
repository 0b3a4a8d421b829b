// Tells one store's listener what concerns the owners of its factory: reads the table `wake` when
// the kernel says that there is news, or by timer where the kernel cannot watch.
#pragma once

#include "store/sqlite/crowd.hpp"
#include "store/sqlite/name_table.hpp"
#include "store/sqlite/request_queue.hpp"
#include "store/sqlite/session.hpp"
#include "store/sqlite/wake_file.hpp"

#include <holdfast/claim.hpp>

#include <memory>
#include <vector>

namespace holdfast::sqlite {

class WakeListener final : public Listener, public std::enable_shared_from_this<WakeListener> {
 public:
  // `session` opens the file if it is not open. All references must outlive stop().
  WakeListener(Runtime& runtime, Crowd& crowd, RequestQueue& requests,
               UniqueFunction<Session&()> session, UniqueFunction<void(const StoreEvent&)> handler);

  // From now on nothing that is logged in `wake` is missed. Cheap when it was done before.
  // Called inside a step of the store.
  void begin(Session& session);
  // The connection was lost and made again.
  void doubt();
  void stop() noexcept;

  void start_listening() override { look(); }

 private:
  class Look;

  void look();
  void read(Session& session, std::vector<StoreEvent>& events);
  void tell(const std::vector<StoreEvent>& events);
  void look_later();

  Runtime& runtime_;
  Crowd& crowd_;
  RequestQueue& requests_;
  UniqueFunction<Session&()> session_;
  UniqueFunction<void(const StoreEvent&)> handler_;
  std::unique_ptr<WakeWatch> watch_{};
  Runtime::TimerId timer_ = 0;
  std::int64_t seen_ = 0;
  bool begun_ = false;
  bool looking_ = false;
  bool doubt_ = false;
  bool stopped_ = false;
};

}  // namespace holdfast::sqlite
