#include "store/postgres/advisory_holder.hpp"

#include <holdfast/error.hpp>

#include "store/postgres/advisory_queries.hpp"
#include "store/postgres/queries.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::postgres {

namespace {

constexpr Duration beat_interval = std::chrono::seconds{2};
constexpr Duration look_again = std::chrono::milliseconds{100};

// No limit of the role's may end a session that is idle or a statement that waits its turn, and a
// client that vanished must be noticed by the server within about 15 s.
constexpr const char* setup =
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;"
    "SET statement_timeout = 0; SET lock_timeout = 0; SET tcp_keepalives_idle = 5;"
    "SET tcp_keepalives_interval = 3; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 15000;"
    "DO $$ BEGIN IF current_setting('server_version_num')::int >= 140000 THEN "
    "PERFORM set_config('idle_session_timeout', '0', false); END IF; END $$";

// A sum that does not fit stops at the end of time.
Instant later(Instant from, Duration by) {
  return by > Instant::max() - from ? Instant::max() : from + by;
}

}  // namespace

AdvisoryHolder::AdvisoryHolder(EventLoop& loop, std::shared_ptr<const Settings> settings)
    : loop_(loop),
      settings_(std::move(settings)),
      link_(loop, settings_->server, settings_->op_timeout,
            {.setup = setup, .refuse_poolers = !settings_->pooler_keeps_sessions}) {
  link_.on_session([this](const Session* session) { on_session(session); });
}

AdvisoryHolder::~AdvisoryHolder() { loop_.cancel(timer_); }

void AdvisoryHolder::send(Query query, Link::Handler done) {
  link_.send(std::move(query), deadline(), std::move(done));
}

// ---- what is held ------------------------------------------------------------------------------

AdvisoryHolder::Hold* AdvisoryHolder::find(const std::string& name, const OwnerId& owner) {
  const auto found = holds_.find(name);
  if (found == holds_.end()) {
    return nullptr;
  }
  for (Hold& hold : found->second) {
    if (hold.owner == owner) {
      return &hold;
    }
  }
  return nullptr;
}

void AdvisoryHolder::remove(const std::string& name, const OwnerId& owner) {
  const auto found = holds_.find(name);
  if (found == holds_.end()) {
    return;
  }
  std::vector<UniqueFunction<void()>> waiting;
  std::erase_if(found->second, [&](Hold& hold) {
    if (hold.owner != owner) {
      return false;
    }
    waiting = std::move(hold.once_tried);
    return true;
  });
  if (found->second.empty()) {
    holds_.erase(found);
  }
  for (auto& one : waiting) {
    one();
  }
}

bool AdvisoryHolder::is_entombed(const OwnerId& owner) {
  const Instant now = loop_.now();
  std::erase_if(tombs_, [&](const auto& tomb) { return tomb.second <= now; });
  return tombs_.contains(owner);
}

// All that the session held went with it.
void AdvisoryHolder::on_session(const Session* session) {
  if (session != nullptr) {
    return;
  }
  bool lost = false;
  for (auto& [name, holds] : holds_) {
    lost = std::erase_if(holds, [](const Hold& hold) { return hold.state != State::trying; }) > 0 ||
           lost;
  }
  std::erase_if(holds_, [](const auto& entry) { return entry.second.empty(); });
  if (lost && tell_) {
    tell_(Doubt{});
  }
}

// ---- acquire -----------------------------------------------------------------------------------

void AdvisoryHolder::acquire(const Claim& claim, UniqueFunction<void(AcquireReply)> done) {
  if (is_entombed(claim.owner)) {
    done(Busy{look_again});
    return;
  }
  if (const Hold* ours = find(claim.name, claim.owner)) {
    if (ours->state == State::held) {
      answer_held(claim, std::move(done));
    } else {
      done(Busy{look_again});
    }
    return;
  }
  // The server would let this session have its own lock twice.
  for (const Hold& other : holds_[claim.name]) {
    if (other.mode == Mode::exclusive || claim.mode == Mode::exclusive) {
      answer_busy(claim.name, std::move(done));
      return;
    }
  }
  Hold hold;
  hold.owner = claim.owner;
  hold.mode = claim.mode;
  hold.ttl = claim.ttl;
  holds_[claim.name].push_back(std::move(hold));
  send(try_query(claim, settings_->client_id),
       [this, claim, done = std::move(done)](Link::Answer answer) mutable {
         done(tried(claim, answer));
         if (Hold* ours = find(claim.name, claim.owner)) {
           for (auto& one : std::exchange(ours->once_tried, {})) {
             one();
           }
         }
       });
}

void AdvisoryHolder::answer_busy(const std::string& name, UniqueFunction<void(AcquireReply)> done) {
  send(inspect_holds_query(name), [done = std::move(done)](Link::Answer answer) mutable {
    if (auto* failed = std::get_if<Failed>(&answer)) {
      done(std::move(*failed));
      return;
    }
    Busy busy{look_again};
    auto seen = parse_inspected(std::get<Table>(answer));
    if (seen && !std::get<NameView>(*seen).holders.empty()) {
      busy.holder = std::move(std::get<NameView>(*seen).holders.front());
    }
    done(std::move(busy));
  });
}

AcquireReply AdvisoryHolder::tried(const Claim& claim, Link::Answer& answer) {
  Hold* const ours = find(claim.name, claim.owner);
  if (auto* failed = std::get_if<Failed>(&answer)) {
    remove(claim.name, claim.owner);
    if (is_connected() && failed->code != errc::access_denied) {
      link_.drop_session();  // it may have the lock without knowing its fence
    }
    return std::move(*failed);
  }
  const Table& table = std::get<Table>(answer);
  std::optional<AcquireReply> reply = parse_acquired(table);
  const auto* granted = reply ? std::get_if<Granted>(&*reply) : nullptr;
  if (granted == nullptr) {
    remove(claim.name, claim.owner);
    if (reply && std::holds_alternative<Busy>(*reply)) {
      std::get<Busy>(*reply).recheck_in = look_again;
      return *std::move(reply);
    }
    link_.drop_session();
    return Failed{errc::outcome_unknown, true, "an answer that makes no sense"};
  }
  ours->state = State::held;
  ours->fence = granted->fence;
  ours->floor = granted->floor;
  ours->key = key_of(table);
  ours->ends = later(loop_.now(), claim.ttl);
  arm();
  return *std::move(reply);
}

void AdvisoryHolder::answer_held(const Claim& claim, UniqueFunction<void(AcquireReply)> done) {
  renew({claim}, [this, claim, done = std::move(done)](std::vector<RenewReply> replies) mutable {
    const Hold* const ours = find(claim.name, claim.owner);
    if (auto* failed = std::get_if<Failed>(&replies.front())) {
      done(std::move(*failed));
    } else if (ours != nullptr && std::holds_alternative<Renewed>(replies.front())) {
      done(Granted{ours->fence, ours->floor, claim.ttl});
    } else {
      done(Busy{look_again});
    }
  });
}

// ---- renew, amend, withdraw --------------------------------------------------------------------

// The answer to a question that went through the session proves that it lives, and its locks do.
void AdvisoryHolder::renew(const std::vector<Claim>& claims,
                           UniqueFunction<void(std::vector<RenewReply>)> done) {
  std::vector<RenewReply> replies(claims.size(), Gone{GoneReason::taken});
  std::vector<std::size_t> asked;
  std::vector<std::string> names;
  std::vector<std::string> owners;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Hold* const ours = find(claims[i].name, claims[i].owner);
    if (ours != nullptr && ours->state == State::held &&
        (claims[i].fence == Fence::none || claims[i].fence == ours->fence)) {
      asked.push_back(i);
      names.push_back(claims[i].name);
      owners.push_back(claims[i].owner.text());
    }
  }
  if (asked.empty()) {
    done(std::move(replies));
    return;
  }
  send(verify_query(names, owners),
       [this, claims, asked = std::move(asked), replies = std::move(replies),
        done = std::move(done)](Link::Answer answer) mutable {
         std::optional<std::vector<RenewReply>> said;
         if (const auto* table = std::get_if<Table>(&answer)) {
           said = parse_renewed(*table, asked.size());
         }
         for (std::size_t i = 0; i < asked.size(); ++i) {
           const Claim& claim = claims[asked[i]];
           RenewReply& reply = replies[asked[i]];
           Hold* const ours = find(claim.name, claim.owner);
           if (ours == nullptr) {
             continue;  // the session ended meanwhile: taken
           }
           if (!said) {
             const auto* failed = std::get_if<Failed>(&answer);
             reply = failed != nullptr ? *failed : Failed{errc::outcome_unknown, true, ""};
           } else if (std::holds_alternative<Renewed>((*said)[i])) {
             reply = Renewed{claim.ttl};
             ours->ends = later(loop_.now(), claim.ttl);
           } else {
             reply = (*said)[i];
           }
         }
         done(std::move(replies));
       });
}

void AdvisoryHolder::amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) {
  Hold* const ours = find(claim.name, claim.owner);
  if (ours == nullptr || ours->state != State::held) {
    done(Gone{GoneReason::taken});
    return;
  }
  send(amend_hold_query(claim, ours->key),
       [this, claim, done = std::move(done)](Link::Answer answer) mutable {
         if (auto* failed = std::get_if<Failed>(&answer)) {
           done(std::move(*failed));
           return;
         }
         const auto reply = parse_amended(std::get<Table>(answer));
         Hold* const held = find(claim.name, claim.owner);
         if (reply && held != nullptr && std::holds_alternative<Amended>(*reply)) {
           held->mode = claim.mode;
         }
         done(reply ? *reply : AmendReply{Failed{errc::outcome_unknown, true, ""}});
       });
}

void AdvisoryHolder::withdraw(const Claim& claim, const WithdrawOptions& options,
                              UniqueFunction<void(WithdrawReply)> done) {
  if (options.tombstone) {
    tombs_[claim.owner] = later(loop_.now(), claim.ttl);
  }
  Hold* const ours = find(claim.name, claim.owner);
  if (ours == nullptr || ours->state == State::leaving) {
    done(NotOwner{});
    return;
  }
  if (ours->state == State::trying) {
    ours->once_tried.emplace_back(
        [this, claim, done = std::move(done)]() mutable { withdraw(claim, {}, std::move(done)); });
    return;
  }
  leave(claim.name, *ours, std::move(done));
}

void AdvisoryHolder::leave(const std::string& name, Hold& hold,
                           UniqueFunction<void(WithdrawReply)> done) {
  hold.state = State::leaving;
  send(drop_query(name, hold.owner, hold.key, hold.mode),
       [this, name, owner = hold.owner, done = std::move(done)](Link::Answer answer) mutable {
         const bool was_ours = find(name, owner) != nullptr;
         remove(name, owner);
         if (auto* failed = std::get_if<Failed>(&answer)) {
           if (was_ours && is_connected()) {
             link_.drop_session();  // with it goes the lock
           }
           done(std::move(*failed));
           return;
         }
         const auto reply = parse_withdrawn(std::get<Table>(answer));
         done(reply ? *reply : WithdrawReply{Failed{errc::outcome_unknown, true, ""}});
       });
}

// ---- the heartbeat -----------------------------------------------------------------------------

void AdvisoryHolder::arm() {
  if (timer_ != 0 || holds_.empty()) {
    return;
  }
  Instant next = std::max(next_beat_, loop_.now());
  for (const auto& [name, holds] : holds_) {
    for (const Hold& hold : holds) {
      next = hold.state == State::held ? std::min(next, hold.ends) : next;
    }
  }
  timer_ = loop_.call_at(next, [this] {
    timer_ = 0;
    tick();
  });
}

void AdvisoryHolder::tick() {
  const Instant now = loop_.now();
  for (auto& [name, holds] : holds_) {
    for (Hold& hold : holds) {
      if (hold.state == State::held && hold.ends <= now) {
        leave(name, hold, [](const WithdrawReply&) {});
      }
    }
  }
  if (now >= next_beat_) {
    next_beat_ = now + beat_interval;
    look_for_broken();
  }
  arm();
}

void AdvisoryHolder::look_for_broken() {
  send(broken_holds_query(settings_->client_id), [this](const Link::Answer& answer) {
    const auto* table = std::get_if<Table>(&answer);
    const auto found = table == nullptr ? std::nullopt : parse_broken(*table);
    if (!found || !tell_) {
      return;
    }
    for (const Holder& holder : std::get<BreakDone>(*found).holders) {
      tell_(MarkedBroken{holder.owner});
    }
  });
}

}  // namespace holdfast::postgres
