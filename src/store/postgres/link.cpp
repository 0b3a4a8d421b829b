#include "store/postgres/link.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "runtime/event_loop.hpp"
#include "store/postgres/errors.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::postgres {

namespace {

constexpr Duration first_delay = std::chrono::milliseconds{50};
constexpr Duration longest_delay = std::chrono::seconds{1};
constexpr int collisions_max = 20;

// Somebody removed the schema under a session that had seen it, or the primary became a standby.
bool asks_for_another_session(const Trouble& trouble) {
  return trouble.sqlstate == "3F000" || trouble.sqlstate == "42883" ||
         trouble.sqlstate == "42P01" || trouble.sqlstate == "25006";
}

}  // namespace

Link::Link(EventLoop& loop, const Target& target, Duration op_timeout)
    : Link(loop, target, op_timeout, Special{}) {}

Link::Link(EventLoop& loop, const Target& target, Duration op_timeout, const Special& special)
    : loop_(loop),
      target_(target),
      op_timeout_(op_timeout),
      special_(special),
      place_(target.text()),
      retry_delay_(first_delay) {}

Link::~Link() { close(); }

void Link::keep_connected(UniqueFunction<void()> remade) { remade_ = std::move(remade); }

void Link::close() noexcept {
  closed_ = true;
  loop_.cancel(std::exchange(retry_timer_, 0));
  loop_.cancel(std::exchange(deadline_timer_, 0));
  if (session_) {
    session_->close();
    session_.reset();
  }
  asks_.clear();
}

void Link::send(Query query, Instant deadline, Handler handler) {
  if (closed_) {
    return;
  }
  asks_.push_back({std::move(query), deadline, std::move(handler)});
  arm();
  if (session_ && session_->is_idle()) {
    pump();
  } else {
    connect_when_due();
  }
}

void Link::drop_session() {
  end_session();
  reconnect_if_wanted();
}

void Link::connect_when_due() {
  if (session_ || retry_timer_ != 0 || closed_) {
    return;
  }
  if (loop_.now() >= next_try_) {
    connect();
    return;
  }
  retry_timer_ = loop_.call_at(next_try_, [this] {
    retry_timer_ = 0;
    connect();
  });
}

void Link::connect() {
  next_try_ = loop_.now() + retry_delay_;
  session_ = Session::start(
      loop_, {&target_, op_timeout_, true, special_.setup, special_.refuse_poolers},
      {.ready = [this] { on_ready(); }, .failed = [this](const Failed& why) { on_failed(why); }});
}

void Link::on_ready() {
  retry_delay_ = first_delay;
  last_failure_.reset();
  session_was_ready_ = true;
  const std::weak_ptr<char> alive = alive_;
  if (told_) {
    told_(session_.get());
  }
  if (!alive.expired() && std::exchange(was_connected_, true) && remade_) {
    remade_();
  }
  if (!alive.expired()) {
    pump();
  }
}

void Link::on_failed(const Failed& why) {
  const std::shared_ptr<Session> ended = std::exchange(session_, nullptr);
  const std::weak_ptr<char> alive = alive_;
  if (told_) {
    told_(nullptr);
  }
  in_flight_ = false;
  if (std::exchange(session_was_ready_, false)) {
    if (!alive.expired()) {
      reconnect_if_wanted();  // the next session may run what is left
    }
    return;
  }
  retry_delay_ = std::min(retry_delay_ * 2, longest_delay);
  last_failure_ = why;
  for (Ask& ask : std::exchange(asks_, {})) {
    if (alive.expired()) {
      return;
    }
    ask.handler(why);
  }
  if (!alive.expired()) {
    reconnect_if_wanted();
  }
}

void Link::reconnect_if_wanted() {
  if (!asks_.empty() || (was_connected_ && remade_)) {
    connect_when_due();
  }
}

void Link::end_session() {
  if (!session_) {
    return;
  }
  session_->close();
  session_.reset();
  session_was_ready_ = false;
  in_flight_ = false;
  if (told_) {
    told_(nullptr);
  }
}

void Link::pump() {
  if (in_flight_ || asks_.empty() || !session_ || !session_->is_idle()) {
    return;
  }
  in_flight_ = true;
  if (!session_->run(asks_.front().query,
                     [this](Outcome outcome) { on_outcome(std::move(outcome)); })) {
    end_session();  // nothing was sent
    connect_when_due();
  }
}

void Link::on_outcome(Outcome outcome) {
  in_flight_ = false;
  if (asks_.empty()) {
    return;
  }
  if (const auto* trouble = std::get_if<Trouble>(&outcome)) {
    Ask& first = asks_.front();
    if (!first.query.once && is_collision(*trouble) && ++first.tries < collisions_max) {
      pump();
      return;
    }
    if (asks_for_another_session(*trouble)) {
      const bool again = ++first.tries < 2;
      if (again) {
        end_session();
        connect_when_due();
        return;
      }
    }
  }
  Ask ask = std::move(asks_.front());
  asks_.pop_front();
  const std::weak_ptr<char> alive = alive_;
  if (auto* table = std::get_if<Table>(&outcome)) {
    ask.handler(std::move(*table));
  } else {
    ask.handler(why_failed(place_, std::get<Trouble>(outcome)));
  }
  if (!alive.expired()) {
    pump();
  }
}

void Link::arm() {
  if (deadline_timer_ != 0 || asks_.empty()) {
    return;
  }
  const auto earliest =
      std::min_element(asks_.begin(), asks_.end(),
                       [](const Ask& a, const Ask& b) { return a.deadline < b.deadline; });
  deadline_timer_ = loop_.call_at(earliest->deadline, [this] { on_deadline(); });
}

void Link::on_deadline() {
  deadline_timer_ = 0;
  const Instant now = loop_.now();
  const bool stuck = in_flight_ && asks_.front().deadline <= now;
  std::vector<std::pair<Handler, Failed>> overdue;
  std::deque<Ask> left;
  for (Ask& ask : asks_) {
    if (ask.deadline > now) {
      left.push_back(std::move(ask));
      continue;
    }
    const bool sent = stuck && overdue.empty();
    Failed why{sent ? errc::outcome_unknown : errc::store_unavailable, sent,
               place_ + ": no answer within " + duration_text(op_timeout_)};
    if (!sent && last_failure_) {
      why = *last_failure_;
    }
    overdue.emplace_back(std::move(ask.handler), std::move(why));
  }
  asks_ = std::move(left);
  const std::weak_ptr<char> alive = alive_;
  if (stuck) {
    end_session();
  }
  arm();
  for (auto& [handler, why] : overdue) {
    if (alive.expired()) {
      return;
    }
    handler(std::move(why));
  }
  if (!alive.expired()) {
    reconnect_if_wanted();
  }
}

}  // namespace holdfast::postgres
