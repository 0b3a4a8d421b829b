#include "store/redis/wake_listener.hpp"

#include "runtime/event_loop.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace holdfast::redis {

namespace {

constexpr std::size_t owner_size = 32;

// " NUMBER", taken off the front of `rest`; 0 for anything else.
std::int64_t take_number(std::string_view& rest) {
  std::int64_t number = 0;
  if (!rest.starts_with(' ')) {
    return 0;
  }
  const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
  if (error != std::errc{}) {
    return 0;
  }
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return number;
}

std::optional<StoreEvent> parse_granted(const OwnerId& owner, std::string_view rest) {
  const std::int64_t fence = take_number(rest);
  const std::int64_t floor = rest.empty() ? fence : take_number(rest);
  if (!rest.empty() || fence <= 0 || floor <= 0 || floor > fence) {
    return std::nullopt;
  }
  return HandedOff{.owner = owner, .fence = Fence{fence}, .floor = Fence{floor}};
}

}  // namespace

std::optional<StoreEvent> parse_wake_up(std::string_view payload) {
  const auto space = payload.find(' ');
  if (space == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view word = payload.substr(0, space);
  std::string_view rest = payload.substr(space + 1);
  const auto owner = OwnerId::parse(rest.substr(0, owner_size));
  if (!owner) {
    return std::nullopt;
  }
  rest.remove_prefix(owner_size);
  if (word == "granted") {
    return parse_granted(*owner, rest);
  }
  if (word == "broken" && rest.empty()) {
    return MarkedBroken{*owner};
  }
  if (word == "look" && rest.empty()) {
    return MaybeFree{*owner};
  }
  return std::nullopt;
}

WakeListener::WakeListener(EventLoop& loop, std::shared_ptr<const Settings> settings,
                           Locator& locator, UniqueFunction<void(const StoreEvent&)> on_event)
    : loop_(loop),
      settings_(std::move(settings)),
      locator_(locator),
      tell_(std::move(on_event)),
      held_(loop) {}

bool WakeListener::take_missed() {
  const bool unheard = held_.take_went_unheard();
  return std::exchange(missed_, false) || unheard;
}

WakeListener::~WakeListener() { close(); }

void WakeListener::close() noexcept {
  loop_.cancel(std::exchange(retry_timer_, 0));
  if (peer_) {
    peer_->close();
    peer_.reset();
  }
  held_.clear();
}

void WakeListener::start() {
  if (!std::exchange(started_, true)) {
    connect();
  }
}

void WakeListener::when_settled(Instant latest, UniqueFunction<void()> go) {
  start();
  if (!peer_ || peer_->state() == Connection::State::ready) {
    go();
    return;
  }
  held_.add(latest, std::move(go));
}

void WakeListener::connect() {
  retry_.tried(loop_.now());
  locator_.locate(led_nowhere_, [this, alive = std::weak_ptr{alive_}](Locator::Found found) {
    if (!alive.expired()) {
      connect_to(std::move(found));
    }
  });
}

void WakeListener::connect_to(Locator::Found found) {
  if (std::holds_alternative<Failed>(found)) {
    connect_later();
    held_.release();
    return;
  }
  term_ = locator_.term();
  peer_ = Peer::connect(loop_, std::get<net::Endpoint>(std::move(found)), settings_->wakes,
                        [this](Peer&, Connection::Event& event) { on_event(event); });
}

void WakeListener::relocate() {
  if (peer_ && term_ != locator_.term()) {
    peer_->close();
    peer_.reset();
    missed_ = true;
    connect();
  }
}

void WakeListener::connect_later() {
  retry_.failed();
  led_nowhere_ = true;
  missed_ = true;
  retry_timer_ = loop_.call_at(retry_.next(), [this] {
    retry_timer_ = 0;
    connect();
  });
}

void WakeListener::on_event(Connection::Event& event) {
  if (const auto* message = std::get_if<Connection::Message>(&event)) {
    if (const auto wake_up = parse_wake_up(message->payload)) {
      tell_(*wake_up);
    }
  } else if (std::holds_alternative<Connection::Ready>(event)) {
    retry_.succeeded();
    led_nowhere_ = false;
    const std::weak_ptr<char> alive = alive_;
    held_.release();
    if (!alive.expired() && take_missed()) {
      tell_(Doubt{});
    }
  } else if (std::holds_alternative<Connection::Closed>(event)) {
    peer_.reset();
    connect_later();
    held_.release();
  }
}

}  // namespace holdfast::redis
