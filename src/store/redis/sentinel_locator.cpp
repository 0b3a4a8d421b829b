#include "store/redis/sentinel_locator.hpp"

#include "runtime/event_loop.hpp"
#include "store/redis/sentinel_report.hpp"

#include <utility>

namespace holdfast::redis {

namespace {

// From the moment in which the new primary takes writes to the sentinels' announcement.
constexpr Duration failover_max = std::chrono::seconds{5};
constexpr Duration role_interval = std::chrono::milliseconds{50};
// A failover that takes longer has failed; the next one is told of anew.
constexpr Duration candidate_max = std::chrono::minutes{1};

}  // namespace

SentinelLocator::SentinelLocator(EventLoop& loop, const SentinelSettings& settings,
                                 const Connection::Options& login,
                                 std::shared_ptr<PrimaryPlace> place)
    : loop_(loop), settings_(settings), login_(login), place_(std::move(place)) {}

SentinelLocator::~SentinelLocator() { close(); }

void SentinelLocator::close() noexcept {
  loop_.cancel(std::exchange(search_timer_, 0));
  loop_.cancel(std::exchange(role_timer_, 0));
  for (Ear& ear : ears_) {
    loop_.cancel(std::exchange(ear.timer, 0));
    if (ear.line) {
      ear.line->close();
    }
  }
  ears_.clear();
  for (const auto& line : lines_) {
    line->close();
  }
  lines_.clear();
  if (role_line_) {
    role_line_->close();
    role_line_.reset();
  }
  search_.reset();
  waiting_.clear();
}

std::shared_ptr<SentinelLine> SentinelLocator::ask(const net::Endpoint& sentinel,
                                                   std::string commands, bool listens,
                                                   SentinelLine::Handler handler) {
  return SentinelLine::open(loop_,
                            {.endpoint = sentinel,
                             .user = settings_.user,
                             .password = settings_.password,
                             .commands = std::move(commands),
                             .timeout = login_.op_timeout,
                             .listens = listens},
                            std::move(handler));
}

// ---- where is it? ------------------------------------------------------------------------------

void SentinelLocator::locate(bool anew, UniqueFunction<void(Found)> done) {
  if (const auto known = place_->get(); known && !anew) {
    done(*known);
    return;
  }
  waiting_.push_back(std::move(done));
  search();
}

void SentinelLocator::search() {
  if (search_) {
    return;
  }
  search_.emplace(settings_.sentinels.size(), settings_.name, login_.place);
  for (std::size_t i = 0; i < settings_.sentinels.size(); ++i) {
    ask_where(i);
  }
}

void SentinelLocator::ask_where(std::size_t sentinel) {
  const std::string commands = encode({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", settings_.name}) +
                               encode({"SENTINEL", "MASTER", settings_.name});
  const auto first = std::make_shared<std::optional<Reply>>();
  lines_.push_back(ask(settings_.sentinels[sentinel], commands, false,
                       [this, sentinel, first](SentinelLine::News news) {
                         if (auto* why = std::get_if<Failed>(&news)) {
                           search_->on_failure(sentinel, std::move(*why));
                         } else if (!*first) {
                           *first = std::get<Reply>(std::move(news));
                           return;
                         } else if (auto word = parse_word(**first, std::get<Reply>(news))) {
                           search_->on_word(sentinel, *std::move(word), loop_.now());
                         } else {
                           search_->on_unknown(sentinel);
                         }
                         look_at_search();
                       }));
}

void SentinelLocator::look_at_search() {
  if (!search_) {
    return;
  }
  if (auto result = search_->result(loop_.now())) {
    finish_search(*std::move(result));
    return;
  }
  loop_.cancel(std::exchange(search_timer_, 0));
  if (search_->wake_at() != Instant::max()) {
    search_timer_ = loop_.call_at(search_->wake_at(), [this] {
      search_timer_ = 0;
      look_at_search();
    });
  }
}

void SentinelLocator::finish_search(PrimarySearch::Result result) {
  loop_.cancel(std::exchange(search_timer_, 0));
  search_.reset();
  for (const auto& line : std::exchange(lines_, {})) {
    line->close();
  }
  Found found;
  if (const auto* why = std::get_if<Failed>(&result)) {
    found = *why;
  } else {
    const Address& address = std::get<SentinelWord>(result).primary;
    found = settings_.primary_at(address.host, address.port);
  }
  const std::weak_ptr<char> alive = alive_;
  auto waiting = std::exchange(waiting_, {});
  auto* const word = std::get_if<SentinelWord>(&result);
  if (word != nullptr && is_behind(*word)) {
    found = place_->get().value();
  } else if (word != nullptr) {
    last_word_ = std::move(*word);
    move_to(Address{last_word_->primary});
    if (alive.expired()) {
      return;
    }
  }
  for (auto& done : waiting) {
    if (alive.expired()) {
      return;
    }
    done(found);
  }
}

// Until a failover is over the sentinels name the old primary, although the new one takes writes.
bool SentinelLocator::is_behind(const SentinelWord& word) const {
  return loop_.now() < promoted_until_ && last_word_ && word.epoch <= last_word_->epoch;
}

void SentinelLocator::move_to(const Address& address) {
  candidate_.reset();
  const bool known = place_->get().has_value();
  if (place_->set(settings_.primary_at(address.host, address.port)) && known && moved_) {
    moved_();
  }
}

std::vector<Finding> SentinelLocator::findings() const {
  return last_word_ ? judge_sentinels(*last_word_) : std::vector<Finding>{};
}

// ---- has it moved? -----------------------------------------------------------------------------

void SentinelLocator::watch(UniqueFunction<void()> moved) {
  moved_ = std::move(moved);
  ears_.resize(settings_.sentinels.size());
  for (std::size_t i = 0; i < ears_.size(); ++i) {
    listen_to(i);
  }
}

void SentinelLocator::listen_to(std::size_t sentinel) {
  Ear& ear = ears_[sentinel];
  ear.retry.tried(loop_.now());
  ear.line = ask(settings_.sentinels[sentinel],
                 encode({"SUBSCRIBE", switch_channel, selected_channel, promoted_channel}), true,
                 [this, sentinel](SentinelLine::News news) {
                   if (const auto* reply = std::get_if<Reply>(&news)) {
                     on_heard(sentinel, *reply);
                   } else {
                     on_deaf(sentinel);
                   }
                 });
}

void SentinelLocator::on_deaf(std::size_t sentinel) {
  Ear& ear = ears_[sentinel];
  ear.line.reset();
  ear.retry.failed();
  ear.timer = loop_.call_at(ear.retry.next(), [this, sentinel] {
    ears_[sentinel].timer = 0;
    listen_to(sentinel);
  });
}

void SentinelLocator::on_heard(std::size_t sentinel, const Reply& reply) {
  const std::string_view kind = reply.at(0).text();
  if (kind == "subscribe" && reply.at(1).text() == promoted_channel) {
    ears_[sentinel].retry.succeeded();
    if (place_->get()) {
      search();  // for what was said while nobody listened here
    }
  }
  if (kind != "message") {
    return;
  }
  const auto news = parse_news(reply.at(1).text(), reply.at(2).text(), settings_.name);
  if (!news) {
    return;
  }
  if (news->kind == SentinelNews::Kind::switched) {
    const std::weak_ptr<char> alive = alive_;
    move_to(news->address);
    if (!alive.expired()) {
      search();  // for the epoch of this configuration
    }
  } else {
    watch_candidate(news->address);
  }
}

// ---- is it the primary yet? --------------------------------------------------------------------

void SentinelLocator::watch_candidate(const Address& address) {
  candidate_until_ = loop_.now() + candidate_max;
  if (candidate_ == address) {
    return;
  }
  candidate_ = address;
  loop_.cancel(std::exchange(role_timer_, 0));
  ask_role();
}

void SentinelLocator::ask_role() {
  if (!candidate_ || loop_.now() > candidate_until_) {
    candidate_.reset();
    return;
  }
  SentinelLine::Options options{
      .endpoint = settings_.primary_at(candidate_->host, candidate_->port),
      .user = login_.place.user,
      .password = login_.password,
      .commands = encode({"ROLE"}),
      .timeout = login_.op_timeout};
  role_line_ = SentinelLine::open(loop_, std::move(options), [this](SentinelLine::News news) {
    role_line_->close();
    const auto* role = std::get_if<Reply>(&news);
    if (role != nullptr && role->at(0).text() == "master" && candidate_) {
      promoted_until_ = loop_.now() + failover_max;
      move_to(Address{*candidate_});
      return;
    }
    role_timer_ = loop_.call_at(loop_.now() + role_interval, [this] {
      role_timer_ = 0;
      ask_role();
    });
  });
}

}  // namespace holdfast::redis
