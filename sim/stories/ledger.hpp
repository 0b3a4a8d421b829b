// The database of an experiment: orders that are to be paid once each, behind one of several
// protections. Requests and answers travel; a write lands when it arrives, whatever has become of
// its sender.
#pragma once

#include "sim/network.hpp"
#include "sim/stories/trial.hpp"
#include "sim/timeline/recorder.hpp"

#include <holdfast/guard.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::sim {

class Ledger {
 public:
  Ledger(World& world, Network& network, Recorder& recorder, Protection protection,
         std::size_t orders);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger() = default;

  struct Order {  // as it was read
    std::size_t number = 0;
    std::uint64_t version = 0;
  };
  struct Payment {
    NodeId node = 0;
    Fence fence = Fence::none;
    Order order{};
  };
  enum class Outcome : std::uint8_t { paid, refused };
  struct Page {
    std::optional<Order> order{};  // unset: there is none that could be paid now
    bool all_paid = false;
    bool refused = false;  // the guard: somebody with a greater fence was here
  };

  // The next order that is to be paid and that nobody locks, if any. A guard admits the fence in
  // the same step: from then on no earlier holder can change what was read. `answered` is called by
  // the network, if ever: it has to find its way to its node itself.
  void read(NodeId node, Fence fence, std::function<void(Page)> answered);
  void pay(const Payment& payment, std::function<void(Outcome)> answered);

  // What a reader sees of all orders at one moment.
  struct Total {
    std::size_t paid = 0;
    bool all_paid = false;
  };
  void add_up(NodeId node, std::function<void(Total)> answered);
  // A report that is made of two looks: torn if they do not agree.
  void report(NodeId node, const Total& before, const Total& after);

  // The connections of a node are gone: so are its row locks.
  void disconnect(NodeId node);

  bool all_paid() const;
  bool idle() const noexcept { return *payments_under_way_ == 0; }
  // The instant at which the last order was paid; that of the end of time if one is not.
  Duration done_at() const;
  void add_to(Verdict& verdict) const;

 private:
  struct Row {
    std::size_t times_paid = 0;
    std::uint64_t version = 0;
    std::optional<NodeId> locked_by{};
  };

  Page next(NodeId node, Fence fence);
  bool admit(Fence fence);
  Outcome land(const Payment& payment);
  std::string why_refused(const Payment& payment, const Row& row);

  World& world_;
  Network& network_;
  Recorder& recorder_;
  Protection protection_;
  std::vector<Row> rows_;
  MemoryGuard guard_{};
  Fence greatest_ = Fence::none;
  // Shared with the messages, which may outlive us in the network.
  std::shared_ptr<std::size_t> payments_under_way_ = std::make_shared<std::size_t>(0);
  std::size_t refused_ = 0;
  std::size_t torn_ = 0;
  Duration last_paid_at_{};
};

}  // namespace holdfast::sim
