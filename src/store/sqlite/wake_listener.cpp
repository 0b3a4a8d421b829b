#include "store/sqlite/wake_listener.hpp"

#include <utility>

namespace holdfast::sqlite {

namespace {

constexpr Duration poll_interval = std::chrono::milliseconds{200};

EventLoop* event_loop_of(Runtime& runtime) { return dynamic_cast<EventLoop*>(&runtime); }

}  // namespace

// Reads the news in turn with the store's verbs, so that it is told after the answers before it.
class WakeListener::Look final : public Request {
 public:
  explicit Look(std::shared_ptr<WakeListener> listener) : listener_(std::move(listener)) {}

  void attempt() override {
    Session& session = listener_->session_();
    listener_->begin(session);
    listener_->read(session, events_);
  }
  void fail(Failed) override { failed_ = true; }
  void deliver() override {
    listener_->looking_ = false;
    if (failed_) {
      listener_->look_later();
    } else {
      listener_->tell(events_);
    }
  }

 private:
  std::shared_ptr<WakeListener> listener_;
  std::vector<StoreEvent> events_{};
  bool failed_ = false;
};

WakeListener::WakeListener(Runtime& runtime, Crowd& crowd, RequestQueue& requests,
                           UniqueFunction<Session&()> session,
                           UniqueFunction<void(const StoreEvent&)> handler)
    : runtime_(runtime),
      crowd_(crowd),
      requests_(requests),
      session_(std::move(session)),
      handler_(std::move(handler)) {}

void WakeListener::begin(Session& session) {
  if (!watch_) {
    if (EventLoop* loop = event_loop_of(runtime_)) {
      watch_ = WakeWatch::start(*loop, session.file().path(), [this] { look(); });
    }
    if (!watch_) {
      look_later();
    }
  }
  if (!begun_) {
    // After the watch is there: what is logged from here on is either seen or announced.
    seen_ = session.table().last_wake();
    begun_ = true;
  }
}

void WakeListener::doubt() {
  doubt_ = true;
  look();
}

void WakeListener::stop() noexcept {
  stopped_ = true;
  watch_.reset();
  if (timer_ != 0) {
    runtime_.cancel(timer_);
    timer_ = 0;
  }
}

void WakeListener::look() {
  if (!looking_ && !stopped_) {
    looking_ = true;
    requests_.submit(std::make_unique<Look>(shared_from_this()));
  }
}

void WakeListener::read(Session& session, std::vector<StoreEvent>& events) {
  if (std::exchange(doubt_, false)) {
    events.emplace_back(Doubt{});
  }
  const auto rows = session.table().wakes_after(seen_);
  if (!rows) {
    // Some were trimmed before we read them.
    events.emplace_back(Doubt{});
    seen_ = session.table().last_wake();
    return;
  }
  for (const WakeRow& row : *rows) {
    seen_ = row.seq;
    if (!crowd_.concerns(row.owner)) {
      continue;
    }
    switch (row.kind) {
      case WakeRow::Kind::handed_off:
        events.emplace_back(HandedOff{row.owner, row.fence, row.floor});
        break;
      case WakeRow::Kind::broken:
        events.emplace_back(MarkedBroken{row.owner});
        break;
      case WakeRow::Kind::maybe_free:
        events.emplace_back(MaybeFree{row.owner});
        break;
    }
  }
}

void WakeListener::tell(const std::vector<StoreEvent>& events) {
  for (const StoreEvent& event : events) {
    if (stopped_) {
      return;
    }
    handler_(event);
  }
}

// Where nobody tells us. Only while somebody waits: a holder looks by renewing.
void WakeListener::look_later() {
  if (timer_ == 0 && !stopped_) {
    timer_ = runtime_.call_at(runtime_.now() + poll_interval, [this] {
      timer_ = 0;
      if (crowd_.has_waiters()) {
        look();
      }
    });
  }
}

}  // namespace holdfast::sqlite
