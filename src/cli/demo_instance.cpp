#include "cli/demo_instance.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include "cli/demo_ledger.hpp"
#include "cli/demo_timing.hpp"
#include "cli/exit_code.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include <poll.h>

namespace holdfast::cli {

namespace {

// The job that a user would write: take the lock, pay batch by batch, stop when the lease is lost.
class Instance {
 public:
  Instance(const DemoPlan& plan, Descriptor link) : plan_(plan), link_(std::move(link)) {}

  void run() {
    wait_for_cue(link_, DemoCue::race);
    Client client{plan_.store};
    Mutex mutex{client, plan_.lock_name, {.ttl = demo_ttl, .note = "demo"}};
    std::optional<Lease> lease = mutex.try_acquire();
    const bool to_be_frozen = lease.has_value();
    if (!lease) {
      tell(DemoNote::Type::busy);
      if (next_cue<DemoCue>(link_) != DemoCue::stand_by) {
        return;
      }
      lease = mutex.acquire();
    }
    DemoLedger ledger{plan_.ledger};
    // Who was frozen leaves: somebody newer is at work. Who lost its lease otherwise tries again.
    while (work(ledger, *lease, to_be_frozen) == Result::lost && !to_be_frozen) {
      lease.reset();
      lease = mutex.acquire();
    }
    std::error_code lost_before;
    lease->release(lost_before);
    tell(DemoNote::Type::done, paid_);
  }

  void tell(DemoNote::Type type, std::int64_t number = 0, const char* text = "") const {
    DemoNote note{type, number, {}};
    std::strncpy(note.text.data(), text, note.text.size() - 1);
    send_to(link_, note);
  }

 private:
  enum class Result : std::uint8_t { all_paid, lost };

  Result work(DemoLedger& ledger, const Lease& lease, bool to_be_frozen) {
    tell(DemoNote::Type::granted, to_int(lease.fence()));
    for (std::int64_t batch = 0;; ++batch) {
      const auto orders = ledger.unpaid(demo_batch);
      if (orders.empty()) {
        return Result::all_paid;
      }
      if (!lease.valid()) {
        tell(DemoNote::Type::lost);
        return Result::lost;
      }
      // The worst moment: the batch is read, and the lease was valid just now. No look at a lock
      // can help a process that is frozen here and wakes up later.
      const bool frozen = to_be_frozen && batch == demo_frozen_batch(plan_.orders);
      if (frozen) {
        tell(DemoNote::Type::middle, paid_);
        wait_for_cue(link_, DemoCue::go_on);
      }
      if (!pay(ledger, lease, orders, frozen)) {
        return Result::lost;
      }
    }
  }

  bool pay(DemoLedger& ledger, const Lease& lease, const std::vector<std::int64_t>& orders,
           bool frozen) {
    const auto count = static_cast<std::int64_t>(orders.size());
    if (!ledger.pay(orders, plan_.lock_name, lease.fence(), plan_.guarded)) {
      tell(DemoNote::Type::refused, count);
      return false;
    }
    paid_ += count;
    tell(frozen ? DemoNote::Type::late_write : DemoNote::Type::paid, frozen ? count : paid_);
    poll(nullptr, 0, demo_bank_ms);
    return true;
  }

  const DemoPlan& plan_;
  Descriptor link_;
  std::int64_t paid_ = 0;
};

void play(const DemoPlan& plan, Descriptor link) {
  Instance instance{plan, std::move(link)};
  try {
    instance.run();
  } catch (const Error& error) {
    instance.tell(DemoNote::Type::failed, exit_code_for(error.code()), error.what());
  } catch (const std::exception& error) {
    instance.tell(DemoNote::Type::failed, exit_unavailable, error.what());
  }
}

}  // namespace

Actor launch_instance(const DemoPlan& plan) {
  return launch_actor([&plan](Descriptor link) { play(plan, std::move(link)); });
}

}  // namespace holdfast::cli
