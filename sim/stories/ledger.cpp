#include "sim/stories/ledger.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::sim {

namespace {

std::string order_text(std::size_t number) { return "order " + std::to_string(number + 1); }

// Counts a message as under way until it was delivered or lost.
class UnderWay {
 public:
  explicit UnderWay(std::shared_ptr<std::size_t> count) : count_(std::move(count)) { ++*count_; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  UnderWay(UnderWay&&) noexcept = default;
  UnderWay& operator=(UnderWay&&) = delete;
  ~UnderWay() {
    if (count_) {
      --*count_;
    }
  }

 private:
  std::shared_ptr<std::size_t> count_;
};

}  // namespace

Ledger::Ledger(World& world, Network& network, Recorder& recorder, Protection protection,
               std::size_t orders)
    : world_(world),
      network_(network),
      recorder_(recorder),
      protection_(protection),
      rows_(orders) {}

void Ledger::read(NodeId node, Fence fence, std::function<void(Page)> answered) {
  network_.send(place_of_node(node), Place::database, 0,
                [this, node, fence, answered = std::move(answered)] {
                  network_.send(Place::database, place_of_node(node), 0,
                                [answered, page = next(node, fence)] { answered(page); });
                });
}

void Ledger::pay(const Payment& payment, std::function<void(Outcome)> answered) {
  network_.send(
      place_of_node(payment.node), Place::database, 0,
      [this, payment, answered = std::move(answered), under_way = UnderWay{payments_under_way_}] {
        const Outcome outcome = land(payment);
        network_.send(Place::database, place_of_node(payment.node), 0,
                      [answered, outcome] { answered(outcome); });
      });
}

bool Ledger::admit(Fence fence) {
  std::error_code code;
  guard_.admit("orders", "payout", fence, Fence::none, code);
  if (!code) {
    greatest_ = std::max(greatest_, fence);
  }
  return !code;
}

Ledger::Page Ledger::next(NodeId node, Fence fence) {
  if (protection_ == Protection::fence && !admit(fence)) {
    recorder_.mark(MarkKind::refused, recorder_.database_lane(), node,
                   "the database turns " + Recorder::name_of(node) + " away: its fence " +
                       std::to_string(to_int(fence)) + " is below " +
                       std::to_string(to_int(greatest_)));
    return {std::nullopt, false, true};
  }
  for (std::size_t number = 0; number < rows_.size(); ++number) {
    Row& row = rows_[number];
    if (row.times_paid > 0 || (row.locked_by && *row.locked_by != node)) {
      continue;
    }
    if (protection_ == Protection::skip_locked) {
      row.locked_by = node;
    }
    return {Order{number, row.version}, false, false};
  }
  return {std::nullopt, all_paid(), false};
}

std::string Ledger::why_refused(const Payment& payment, const Row& row) {
  switch (protection_) {
    case Protection::none:
    case Protection::skip_locked:
      return {};
    case Protection::fence:
      return admit(payment.fence) ? ""
                                  : "its fence " + std::to_string(to_int(payment.fence)) +
                                        " is below " + std::to_string(to_int(greatest_));
    case Protection::unique_key:
      return row.times_paid > 0 ? "there is a payment of it (unique key)" : "";
    case Protection::version:
      return row.version != payment.order.version ? "it was changed since it was read (version)"
                                                  : "";
  }
  return {};
}

Ledger::Outcome Ledger::land(const Payment& payment) {
  Row& row = rows_[payment.order.number];
  const std::string name = Recorder::name_of(payment.node);
  const std::string order = order_text(payment.order.number);
  const std::size_t lane = recorder_.database_lane();
  if (row.locked_by == payment.node) {
    row.locked_by.reset();  // the transaction ends
  }
  if (const std::string why = why_refused(payment, row); !why.empty()) {
    ++refused_;
    recorder_.mark(MarkKind::refused, lane, payment.node,
                   "the database refuses that " + name + " pays " + order + ": " + why);
    return Outcome::refused;
  }
  ++row.version;
  if (++row.times_paid > 1) {
    recorder_.mark(MarkKind::doubled, lane, payment.node,
                   name + " pays " + order + " ONCE MORE: it was paid already");
  } else {
    last_paid_at_ = world_.now().time_since_epoch();
    recorder_.mark(MarkKind::wrote, lane, payment.node, name + " pays " + order);
  }
  return Outcome::paid;
}

void Ledger::add_up(NodeId node, std::function<void(Total)> answered) {
  network_.send(place_of_node(node), Place::database, 0,
                [this, node, answered = std::move(answered)] {
                  Total total{0, all_paid()};
                  for (const Row& row : rows_) {
                    total.paid += row.times_paid;
                  }
                  network_.send(Place::database, place_of_node(node), 0,
                                [answered, total] { answered(total); });
                });
}

void Ledger::report(NodeId node, const Total& before, const Total& after) {
  const std::string name = Recorder::name_of(node);
  const std::string sum = std::to_string(before.paid);
  if (before.paid == after.paid) {
    recorder_.mark(MarkKind::read, recorder_.database_lane(), node,
                   name + " reports " + sum + " paid orders, and it is true");
    return;
  }
  ++torn_;
  recorder_.mark(MarkKind::torn, recorder_.database_lane(), node,
                 name + " reports " + sum + " paid orders and the details of " +
                     std::to_string(after.paid) + ": somebody paid while it read");
}

void Ledger::disconnect(NodeId node) {
  for (Row& row : rows_) {
    if (row.locked_by == node) {
      row.locked_by.reset();
    }
  }
}

bool Ledger::all_paid() const {
  return std::ranges::all_of(rows_, [](const Row& row) { return row.times_paid > 0; });
}

Duration Ledger::done_at() const { return all_paid() ? last_paid_at_ : Duration::max(); }

void Ledger::add_to(Verdict& verdict) const {
  verdict.orders = rows_.size();
  verdict.refused = refused_;
  verdict.torn = torn_;
  for (const Row& row : rows_) {
    verdict.paid += row.times_paid > 0 ? 1U : 0U;
    verdict.double_payouts += row.times_paid > 1 ? row.times_paid - 1 : 0U;
  }
}

}  // namespace holdfast::sim
