#include "store/redis/link.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "runtime/event_loop.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

Link::Link(EventLoop& loop, std::shared_ptr<const Settings> settings, Locator& locator)
    : loop_(loop), settings_(std::move(settings)), locator_(locator) {}

Link::~Link() { close(); }

void Link::keep_connected(UniqueFunction<void()> remade) { remade_ = std::move(remade); }

void Link::close() noexcept {
  closed_ = true;
  loop_.cancel(std::exchange(retry_timer_, 0));
  loop_.cancel(std::exchange(expiry_timer_, 0));
  current_ = nullptr;
  for (const auto& peer : peers_) {
    peer->close();
  }
  peers_.clear();
  waiting_.clear();
}

// ---- requests ----------------------------------------------------------------------------------

void Link::send(Request request, Instant deadline, Handler handler, std::vector<OwnerId> acquires,
                bool (*needs_acks)(const Reply&)) {
  send({.request = std::move(request),
        .deadline = deadline,
        .handler = std::move(handler),
        .acquires = std::move(acquires),
        .needs_acks = needs_acks});
}

void Link::send(Ask ask) {
  if (closed_) {
    return;
  }
  if (current_ != nullptr && term_ != locator_.term()) {
    relocate();
  }
  if (current_ != nullptr && current_->state() == Connection::State::ready) {
    current_->send(std::move(ask));
    return;
  }
  if (current_ != nullptr && current_->connection().is_overdue(loop_.now())) {
    // A lane that nobody ran for a while: what became of its last attempt to connect says nothing
    // about the server now.
    drop_current();
  }
  waiting_.push_back(std::move(ask));
  arm_expiry();
  connect_when_due();
}

void Link::send_after_acquires_of(const OwnerId& owner, Request request, Instant deadline,
                                  Handler handler) {
  if (!copy_behind_acquires_of(owner, request, deadline, false)) {
    // Behind the acquire on the connection that still takes requests: the server may get to both
    // when nobody is there any more to answer NOSCRIPT to.
    send({.request = std::move(request),
          .deadline = deadline,
          .handler = std::move(handler),
          .in_full = awaits(owner)});
    return;
  }
  send(std::move(request), deadline, [handler = std::move(handler)](Outcome outcome) mutable {
    if (Failed* failed = std::get_if<Failed>(&outcome)) {
      failed->may_have_had_effect = true;  // the copy may be executed yet
    }
    handler(std::move(outcome));
  });
}

// Whatever was sent there and is unanswered has an unknown outcome; what was not sent is kept.
bool Link::relocate() {
  const bool elsewhere = current_ != nullptr && term_ != locator_.term();
  if (elsewhere && current_->state() == Connection::State::ready) {
    current_->distrust("another server is the primary now");
    current_ = nullptr;
  } else if (elsewhere) {
    drop_current();
  }
  if (current_ == nullptr && (!waiting_.empty() || (was_connected_ && remade_))) {
    retry_.succeeded();
    connect();
  }
  return was_connected_;
}

void Link::drop_current() {
  current_->close();
  std::erase_if(peers_, [this](const auto& peer) { return peer.get() == current_; });
  current_ = nullptr;
}

bool Link::copy_behind_acquires_of(const OwnerId& owner, const Request& request, Instant deadline,
                                   bool on_current) {
  bool copied = false;
  for (const auto& peer : peers_) {
    const bool takes = peer->state() == Connection::State::suspect ||
                       (on_current && peer->state() == Connection::State::ready);
    if (takes && peer->connection().awaits(owner)) {
      peer->send({.request = request, .deadline = deadline, .in_full = true});
      copied = true;
    }
  }
  return copied;
}

void Link::distrust_answering_peer() {
  if (answering_ != nullptr) {
    answering_->distrust("the answer has a shape that cannot be");
  }
}

void Link::fail_waiting(const Failed& why) {
  const std::weak_ptr<char> alive = alive_;
  for (Ask& ask : std::exchange(waiting_, {})) {
    if (alive.expired()) {
      return;
    }
    ask.handler(why);
  }
}

void Link::arm_expiry() {
  if (expiry_timer_ != 0 || waiting_.empty()) {
    return;
  }
  const auto earliest =
      std::min_element(waiting_.begin(), waiting_.end(),
                       [](const Ask& a, const Ask& b) { return a.deadline < b.deadline; });
  expiry_timer_ = loop_.call_at(earliest->deadline, [this] { expire_waiting(); });
}

void Link::expire_waiting() {
  expiry_timer_ = 0;
  std::vector<Ask> overdue;
  std::deque<Ask> left;
  const Instant now = loop_.now();
  for (Ask& ask : waiting_) {
    if (ask.deadline <= now) {
      overdue.push_back(std::move(ask));
    } else {
      left.push_back(std::move(ask));
    }
  }
  waiting_ = std::move(left);
  arm_expiry();
  Failed why = last_failure_;
  if (why.detail.empty() && current_ != nullptr) {
    why = current_->silence();
  } else if (why.detail.empty()) {
    why = failed_with(errc::store_unavailable, settings_->commands.place,
                      "no answer within " + duration_text(settings_->op_timeout));
  }
  const std::weak_ptr<char> alive = alive_;
  for (Ask& ask : overdue) {
    if (alive.expired()) {
      return;
    }
    ask.handler(why);
  }
}

// ---- connections -------------------------------------------------------------------------------

void Link::connect_when_due() {
  if (current_ != nullptr || locating_ || retry_timer_ != 0 || closed_) {
    return;
  }
  if (loop_.now() >= retry_.next()) {
    connect();
    return;
  }
  retry_timer_ = loop_.call_at(retry_.next(), [this] {
    retry_timer_ = 0;
    connect();
  });
}

void Link::connect() {
  if (locating_) {
    return;
  }
  loop_.cancel(std::exchange(retry_timer_, 0));
  retry_.tried(loop_.now());
  locating_ = true;
  locator_.locate(led_nowhere_, [this, alive = std::weak_ptr{alive_}](Locator::Found found) {
    if (!alive.expired()) {
      connect_to(std::move(found));
    }
  });
}

void Link::connect_to(Locator::Found found) {
  locating_ = false;
  if (closed_) {
    return;
  }
  if (const auto* why = std::get_if<Failed>(&found)) {
    on_not_connected(*why);
    return;
  }
  term_ = locator_.term();
  auto peer =
      Peer::connect(loop_, std::get<net::Endpoint>(std::move(found)), settings_->commands,
                    [this](Peer& from, Connection::Event& event) { on_event(from, event); });
  current_ = peer.get();
  peers_.push_back(std::move(peer));
}

void Link::on_event(Peer& peer, Connection::Event& event) {
  if (auto* answered = std::get_if<Connection::Answered>(&event)) {
    answer(peer, *answered);
  } else if (auto* unsent = std::get_if<Connection::Unsent>(&event)) {
    waiting_.push_back(std::move(unsent->ask));  // the connection that takes its place may send it
    arm_expiry();
  } else if (std::holds_alternative<Connection::Ready>(event)) {
    on_ready(peer);
  } else if (std::holds_alternative<Connection::Suspect>(event)) {
    on_unusable(peer);
  } else if (const auto* closed = std::get_if<Connection::Closed>(&event)) {
    on_closed(peer, *closed);
  }
}

void Link::answer(Peer& peer, Connection::Answered& answered) {
  const std::weak_ptr<char> alive = alive_;
  answering_ = &peer;
  answered.handler(std::move(answered.outcome));
  if (!alive.expired()) {
    answering_ = nullptr;
  }
}

void Link::on_ready(Peer& peer) {
  retry_.succeeded();
  led_nowhere_ = false;
  last_failure_ = {};
  loop_.cancel(std::exchange(expiry_timer_, 0));
  for (Ask& ask : std::exchange(waiting_, {})) {
    peer.send(std::move(ask));
  }
  if (std::exchange(was_connected_, true) && remade_) {
    remade_();
  }
}

// Another connection takes the requests from now on.
void Link::on_unusable(Peer& peer) {
  if (current_ != &peer) {
    return;
  }
  current_ = nullptr;
  if (!waiting_.empty() || remade_) {
    connect_when_due();
  }
}

void Link::on_closed(Peer& peer, const Connection::Closed& closed) {
  const bool was_current = current_ == &peer;
  std::erase_if(peers_, [&](const std::shared_ptr<Peer>& one) { return one.get() == &peer; });
  if (!was_current) {
    return;
  }
  current_ = nullptr;
  if (!closed.was_ready) {
    on_not_connected(closed.why);
  } else if (!waiting_.empty() || remade_) {
    connect_when_due();
  }
}

void Link::on_not_connected(const Failed& why) {
  retry_.failed();
  led_nowhere_ = true;
  last_failure_ = why;
  const std::weak_ptr<char> alive = alive_;
  fail_waiting(why);
  if (alive.expired()) {
    return;
  }
  if (!waiting_.empty() || (was_connected_ && remade_)) {
    connect_when_due();
  }
}

}  // namespace holdfast::redis
