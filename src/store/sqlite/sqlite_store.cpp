#include "store/sqlite/sqlite_store.hpp"

#include "store/sqlite/diagnosis.hpp"
#include "store/sqlite/failures.hpp"
#include "store/sqlite/renew_request.hpp"
#include "store/sqlite/views.hpp"

#include <holdfast/error.hpp>

#include <utility>

namespace holdfast::sqlite {

namespace {

Failed invalid(std::string why) {
  return {make_error_code(errc::invalid_options), false, std::move(why)};
}

std::optional<Failed> why_refused(const Claim& claim) {
  if (std::string why = why_invalid_name(claim.name); !why.empty()) {
    return Failed{make_error_code(errc::invalid_name), false, "the name " + why};
  }
  if (claim.ttl < ttl_min || claim.ttl > ttl_max) {
    return invalid("the TTL must be from 100ms to 10 years");
  }
  if (claim.limit != 0 && (claim.mode != Mode::shared || claim.limit > limit_max ||
                           claim.permits == 0 || claim.permits > claim.limit)) {
    return invalid("permits must be from 1 to the limit, and the limit at most " +
                   std::to_string(limit_max));
  }
  if (claim.value.size() > value_size_max) {
    return invalid("the value must not be longer than " + std::to_string(value_size_max) +
                   " bytes");
  }
  return std::nullopt;
}

}  // namespace

SqliteStore::SqliteStore(Runtime& runtime, std::shared_ptr<const Settings> settings,
                         std::shared_ptr<Crowd> crowd)
    : runtime_(runtime),
      settings_(std::move(settings)),
      crowd_(std::move(crowd)),
      requests_(runtime, settings_->op_timeout, [this] { return explain(); }) {}

template <class Reply>
void SqliteStore::submit(UniqueFunction<Reply()> step, UniqueFunction<void(Reply)> done) {
  requests_.submit(std::make_unique<SimpleRequest<Reply>>(std::move(step), std::move(done)));
}

Session& SqliteStore::session() {
  if (!session_) {
    session_ = std::make_unique<Session>(*settings_, *crowd_, runtime_.now());
    if (std::exchange(had_session_, true) && listener_) {
      listener_->doubt();
    }
  }
  return *session_;
}

std::optional<Failed> SqliteStore::explain() {
  Explained explained = explain_current_exception(settings_->path);
  if (explained.reopen) {
    session_.reset();
  }
  return std::move(explained.failure);
}

void SqliteStore::acquire(const Claim& claim, Queueing queueing,
                          UniqueFunction<void(AcquireReply)> done) {
  submit<AcquireReply>([this, claim, queueing] { return acquire_now(claim, queueing); },
                       std::move(done));
}

AcquireReply SqliteStore::acquire_now(const Claim& claim, Queueing queueing) {
  if (auto refused = why_refused(claim)) {
    return *std::move(refused);
  }
  Session& opened = session();
  const bool queues = queueing == Queueing::yes;
  if (queues) {
    // Before the request: a hand-off that follows it at once must find somebody who listens.
    crowd_->note_waiter(claim.owner);
    if (listener_) {
      listener_->begin(opened);
    } else {
      crowd_->rouse_listener();
    }
  } else {
    opened.require_unchanged();
    if (auto busy = opened.verbs().glance(claim, runtime_.now())) {
      return *std::move(busy);
    }
  }
  AcquireReply reply =
      opened.write(runtime_, queues ? Flush::no : Flush::yes, requests_.chance(),
                   [&](Verbs& verbs, Step& step) { return verbs.acquire(claim, queueing, step); });
  if (queues && std::holds_alternative<Granted>(reply)) {
    crowd_->note_holder(claim.owner);
  } else if (queues && !std::holds_alternative<Queued>(reply)) {
    crowd_->forget(claim.owner);
  }
  return reply;
}

void SqliteStore::acquire_all(std::span<const Claim> claims,
                              UniqueFunction<void(AcquireAllReply)> done) {
  submit<AcquireAllReply>(
      [this, all = std::vector<Claim>(claims.begin(), claims.end())]() -> AcquireAllReply {
        for (const Claim& claim : all) {
          if (auto refused = why_refused(claim)) {
            return *std::move(refused);
          }
        }
        return session().write(
            runtime_, Flush::yes, requests_.chance(),
            [&](Verbs& verbs, Step& step) { return verbs.acquire_all(all, step); });
      },
      std::move(done));
}

void SqliteStore::renew(std::span<const Claim> claims,
                        UniqueFunction<void(std::vector<RenewReply>)> done) {
  requests_.submit(std::make_unique<RenewRequest>(
      std::vector<Claim>(claims.begin(), claims.end()),
      [this](std::span<const Claim> batch) { return renew_now(batch); }, std::move(done)));
}

std::vector<RenewReply> SqliteStore::renew_now(std::span<const Claim> batch) {
  Session& opened = session();
  if (listener_) {
    listener_->begin(opened);
  }
  auto replies =
      opened.write(runtime_, Flush::no, requests_.chance(), [&](Verbs& verbs, Step& step) {
        std::vector<RenewReply> answers;
        for (const Claim& claim : batch) {
          answers.push_back(verbs.renew(claim, step));
        }
        return answers;
      });
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (std::holds_alternative<Renewed>(replies[i])) {
      crowd_->note_holder(batch[i].owner);
    } else {
      crowd_->forget_holder(batch[i].owner);
    }
  }
  return replies;
}

void SqliteStore::amend(const Claim& claim, UniqueFunction<void(AmendReply)> done) {
  submit<AmendReply>(
      [this, claim]() -> AmendReply {
        if (auto refused = why_refused(claim)) {
          return *std::move(refused);
        }
        return session().write(runtime_, Flush::no, requests_.chance(),
                               [&](Verbs& verbs, Step& step) { return verbs.amend(claim, step); });
      },
      std::move(done));
}

void SqliteStore::withdraw(const Claim& claim, WithdrawOptions options,
                           UniqueFunction<void(WithdrawReply)> done) {
  submit<WithdrawReply>(
      [this, claim, options] {
        WithdrawReply reply = session().write(
            runtime_, options.remember > Duration{0} ? Flush::yes : Flush::no, requests_.chance(),
            [&](Verbs& verbs, Step& step) { return verbs.withdraw(claim, options, step); });
        crowd_->forget(claim.owner);
        return reply;
      },
      std::move(done));
}

void SqliteStore::listen(UniqueFunction<void(const StoreEvent&)> listener) {
  listener_ = std::make_shared<WakeListener>(
      runtime_, *crowd_, requests_, [this]() -> Session& { return session(); },
      std::move(listener));
  crowd_->set_listener(runtime_, listener_);
}

void SqliteStore::inspect(const std::string& name, UniqueFunction<void(InspectReply)> done) {
  submit<InspectReply>(
      [this, name]() -> InspectReply {
        Session& opened = session();
        return opened.read([&] { return sqlite::inspect(opened.table(), name, runtime_.now()); });
      },
      std::move(done));
}

void SqliteStore::list(const std::string& prefix, const std::string& cursor,
                       UniqueFunction<void(ListReply)> done) {
  submit<ListReply>(
      [this, prefix, cursor]() -> ListReply {
        Session& opened = session();
        return opened.read(
            [&] { return sqlite::list(opened.table(), prefix, cursor, runtime_.now()); });
      },
      std::move(done));
}

void SqliteStore::break_name(const std::string& name, BreakMode mode,
                             UniqueFunction<void(BreakReply)> done) {
  submit<BreakReply>(
      [this, name, mode]() -> BreakReply {
        return session().write(
            runtime_, Flush::no, requests_.chance(),
            [&](Verbs& verbs, Step& step) { return verbs.break_name(name, mode, step); });
      },
      std::move(done));
}

void SqliteStore::diagnose(UniqueFunction<void(std::vector<Finding>)> done) {
  using Reply = std::variant<std::vector<Finding>, Failed>;
  submit<Reply>([this]() -> Reply { return sqlite::diagnose(session()); },
                [done = std::move(done)](Reply reply) mutable {
                  if (const auto* failed = std::get_if<Failed>(&reply)) {
                    done({{Finding::Level::failure, failed->code.message() + ": " + failed->detail,
                           "put the lock file where this user can write, on a local disk"}});
                  } else {
                    done(std::get<std::vector<Finding>>(std::move(reply)));
                  }
                });
}

void SqliteStore::close() noexcept {
  if (listener_) {
    crowd_->drop_listener(runtime_);
    listener_->stop();
    listener_.reset();
  }
  requests_.clear();
  session_.reset();
}

}  // namespace holdfast::sqlite
