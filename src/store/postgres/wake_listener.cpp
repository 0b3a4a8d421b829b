#include "store/postgres/wake_listener.hpp"

#include "runtime/event_loop.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::postgres {

namespace {

constexpr Duration first_delay = std::chrono::milliseconds{50};
constexpr Duration longest_delay = std::chrono::seconds{1};
constexpr std::size_t owner_size = 32;

std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return word;
}

std::int64_t number_of(std::string_view digits) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc{} && end == digits.data() + digits.size() ? number : 0;
}

}  // namespace

std::optional<StoreEvent> parse_wake_up(std::string_view payload) {
  const std::string_view what = take_word(payload);
  const std::string_view whose = take_word(payload);
  const auto owner = whose.size() == owner_size ? OwnerId::parse(whose) : std::nullopt;
  if (!owner) {
    return std::nullopt;
  }
  if (what == "granted") {
    const std::int64_t fence = number_of(take_word(payload));
    const std::int64_t floor = number_of(take_word(payload));
    if (fence <= 0 || floor <= 0 || floor > fence || !payload.empty()) {
      return std::nullopt;
    }
    return HandedOff{.owner = *owner, .fence = Fence{fence}, .floor = Fence{floor}};
  }
  if (what == "broken" && payload.empty()) {
    return MarkedBroken{*owner};
  }
  if (what == "look" && payload.empty()) {
    return MaybeFree{*owner};
  }
  return std::nullopt;
}

WakeListener::WakeListener(EventLoop& loop, std::shared_ptr<const Settings> settings,
                           UniqueFunction<void(const StoreEvent&)> on_event)
    : loop_(loop),
      settings_(std::move(settings)),
      tell_(std::move(on_event)),
      held_(loop),
      retry_delay_(first_delay) {}

bool WakeListener::take_missed() {
  const bool unheard = held_.take_went_unheard();
  return std::exchange(missed_, false) || unheard;
}

WakeListener::~WakeListener() { close(); }

void WakeListener::close() noexcept {
  loop_.cancel(std::exchange(retry_timer_, 0));
  if (session_) {
    session_->close();
    session_.reset();
  }
  held_.clear();
}

void WakeListener::start() {
  if (state_ == State::idle) {
    connect();
  }
}

void WakeListener::when_settled(Instant latest, UniqueFunction<void()> go) {
  start();
  if (state_ != State::connecting) {
    go();
    return;
  }
  held_.add(latest, std::move(go));
}

void WakeListener::connect() {
  state_ = State::connecting;
  const Target& target = settings_->listen ? *settings_->listen : settings_->server;
  session_ = Session::start(loop_, {&target, settings_->op_timeout, false},
                            {.ready = [this] { on_ready(); },
                             .failed = [this](const Failed&) { on_failed(); },
                             .notified =
                                 [this](std::string_view payload) {
                                   if (const auto event = parse_wake_up(payload)) {
                                     tell_(*event);
                                   }
                                 }});
}

void WakeListener::on_ready() {
  if (session_->is_pooled() && !settings_->pooler_keeps_sessions) {
    state_ = State::deaf;
    session_->close();
    held_.release();
    return;
  }
  const bool sent = session_->run({"LISTEN " + settings_->channel(), {}, true},
                                  [this](const Outcome& outcome) { on_listening(outcome); });
  if (!sent) {
    on_failed();
  }
}

void WakeListener::on_listening(const Outcome& outcome) {
  if (std::holds_alternative<Trouble>(outcome)) {
    on_failed();
    return;
  }
  state_ = State::listening;
  retry_delay_ = first_delay;
  const std::weak_ptr<char> alive = alive_;
  held_.release();
  if (!alive.expired() && take_missed()) {
    tell_(Doubt{});
  }
}

void WakeListener::on_failed() {
  const std::shared_ptr<Session> ended = std::exchange(session_, nullptr);
  if (ended) {
    ended->close();
  }
  state_ = State::failed;
  missed_ = true;
  loop_.cancel(retry_timer_);
  retry_timer_ = loop_.call_at(loop_.now() + retry_delay_, [this] {
    retry_timer_ = 0;
    connect();
  });
  retry_delay_ = std::min(retry_delay_ * 2, longest_delay);
  held_.release();
}

}  // namespace holdfast::postgres
