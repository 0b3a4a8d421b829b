#include "cli/payout_worker.hpp"

#include <holdfast/client.hpp>
#include <holdfast/mutex.hpp>

#include "cli/exit_code.hpp"
#include "cli/payout_book.hpp"
#include "cli/postgres_connection.hpp"

#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace holdfast::cli {

namespace {

// The job as a user would write it: lock, read a batch, pay it, again until nothing is left.
class Worker {
 public:
  Worker(const PayoutPlan& plan, Descriptor link) : plan_(plan), link_(std::move(link)) {}

  void run() {
    wait_for_cue(link_, PayoutCue::start);
    const std::unique_ptr<PostgresSession> session = connect_postgres(plan_.database);
    PayoutBook book{*session, plan_.schema, plan_.lock_name, plan_.way};
    if (!uses_lock(plan_.way)) {
      take_part();
      while (pay_batch(book, Fence{1}) != Step::nothing_left) {
      }
      return tell(PayoutNote::Type::done);
    }
    Client client{plan_.store};
    Mutex mutex{client, plan_.lock_name, {.ttl = payout_ttl, .note = "demo"}};
    while (work(mutex.acquire(), book) == Step::again) {
      tell(PayoutNote::Type::lost);
    }
    tell(PayoutNote::Type::done);
  }

  void tell(PayoutNote::Type type, std::int64_t number = 0, const char* text = "") const {
    PayoutNote note{type, number, {}};
    std::strncpy(note.text.data(), text, note.text.size() - 1);
    send_to(link_, note);
  }

 private:
  enum class Step : std::uint8_t { go_on, again, nothing_left };

  void take_part() {
    tell(PayoutNote::Type::working);
    unlucky_ = next_cue<PayoutCue>(link_) == PayoutCue::unlucky;
  }

  Step work(Lease lease, PayoutBook& book) {
    take_part();
    if (!book.begin(lease.fence())) {
      tell(PayoutNote::Type::refused);
      return Step::again;
    }
    for (;;) {
      const Step step = lease.valid() ? pay_batch(book, lease.fence()) : Step::again;
      if (step != Step::go_on) {
        std::error_code lost_before;
        lease.release(lost_before);
        return step;
      }
    }
  }

  Step pay_batch(PayoutBook& book, Fence fence) {
    const auto orders = book.read(payout_batch);
    if (orders.empty()) {
      return Step::nothing_left;
    }
    const bool struck = unlucky_ && plan_.fault != PayoutFault::kill;
    if (struck) {
      stop_here(PayoutNote::Type::at_read);
    }
    const auto paid = book.pay(orders, fence, [this] {
      if (unlucky_ && plan_.fault == PayoutFault::kill) {
        stop_here(PayoutNote::Type::half_way);
      }
    });
    if (paid == PayoutBook::Paid::all) {
      tell(PayoutNote::Type::paid, static_cast<std::int64_t>(orders.size()));
      return Step::go_on;
    }
    tell(PayoutNote::Type::refused);
    return Step::again;
  }

  void stop_here(PayoutNote::Type where) {
    unlucky_ = false;
    tell(where);
    wait_for_cue(link_, PayoutCue::go_on);
  }

  const PayoutPlan& plan_;
  Descriptor link_;
  bool unlucky_ = false;
};

}  // namespace

Actor launch_worker(const PayoutPlan& plan) {
  return launch_actor([&plan](Descriptor link) {
    Worker worker{plan, std::move(link)};
    try {
      worker.run();
    } catch (const Error& error) {
      worker.tell(PayoutNote::Type::failed, exit_code_for(error.code()), error.what());
    } catch (const std::exception& error) {
      worker.tell(PayoutNote::Type::failed, exit_unavailable, error.what());
    }
  });
}

}  // namespace holdfast::cli
