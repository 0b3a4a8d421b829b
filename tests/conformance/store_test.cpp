#include "tests/conformance/store_test.hpp"

#include "core/trust.hpp"
#include "tests/support/required.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace holdfast::conformance {

namespace {

// Names what came instead of what should have come.
template <class... Kinds>
std::string describe(const std::variant<Kinds...>& reply) {
  std::ostringstream text;
  std::visit(
      [&](const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Failed>) {
          text << "failed: " << value.code.message() << " (" << value.detail << ")";
        } else if constexpr (std::is_same_v<Value, Granted>) {
          text << "granted";
        } else if constexpr (std::is_same_v<Value, Queued>) {
          text << "queued";
        } else if constexpr (std::is_same_v<Value, Busy>) {
          text << "busy";
        } else {
          text << "answer " << reply.index();
        }
      },
      reply);
  return text.str();
}

template <class Wanted, class Reply>
Wanted expect(Reply reply, const char* wanted) {
  if (auto* value = std::get_if<Wanted>(&reply)) {
    return std::move(*value);
  }
  throw std::runtime_error("expected " + std::string{wanted} + ", got " + describe(reply));
}

}  // namespace

Speaker::Speaker(Lane& lane, std::unique_ptr<Store> store, Listening listening)
    : lane_(lane), store_(std::move(store)) {
  if (listening == Listening::yes) {
    store_->listen([this](const StoreEvent& event) { heard_.push_back(event); });
  }
}

bool Speaker::run_until(const std::function<bool()>& done, Duration at_most) {
  auto late = std::make_shared<bool>(false);
  const auto timer = lane_.call_at(lane_.now() + at_most, [late] { *late = true; });
  lane_.run_until([&] { return *late || done(); });
  lane_.cancel(timer);
  return done();
}

template <class Reply, class Send>
Reply Speaker::ask(Send send) {
  auto answer = std::make_shared<std::optional<Reply>>();
  send(UniqueFunction<void(Reply)>{[answer](Reply reply) { answer->emplace(std::move(reply)); }});
  if (answer->has_value()) {
    throw std::runtime_error("the store called the handler from inside the verb");
  }
  if (!run_until([&] { return answer->has_value(); }, 5s)) {
    throw std::runtime_error("no answer within 5 s");
  }
  return std::move(**answer);
}

AcquireReply Speaker::acquire(const Claim& claim, Store::Queueing queueing) {
  return ask<AcquireReply>([&](auto done) { store_->acquire(claim, queueing, std::move(done)); });
}

AcquireAllReply Speaker::acquire_all(std::span<const Claim> claims) {
  return ask<AcquireAllReply>([&](auto done) { store_->acquire_all(claims, std::move(done)); });
}

AmendReply Speaker::amend(const Claim& claim) {
  return ask<AmendReply>([&](auto done) { store_->amend(claim, std::move(done)); });
}

std::vector<RenewReply> Speaker::renew(std::span<const Claim> claims) {
  return ask<std::vector<RenewReply>>([&](auto done) { store_->renew(claims, std::move(done)); });
}

WithdrawReply Speaker::withdraw(const Claim& claim, WithdrawOptions options) {
  return ask<WithdrawReply>([&](auto done) { store_->withdraw(claim, options, std::move(done)); });
}

NameView Speaker::inspect(const std::string& name) {
  return expect<NameView>(
      ask<InspectReply>([&](auto done) { store_->inspect(name, std::move(done)); }), "a view");
}

Page Speaker::list(const std::string& prefix, const std::string& cursor) {
  return expect<Page>(
      ask<ListReply>([&](auto done) { store_->list(prefix, cursor, std::move(done)); }), "a page");
}

std::vector<NameView> Speaker::list_all(const std::string& prefix) {
  std::vector<NameView> all;
  std::string cursor;
  do {
    Page page = list(prefix, cursor);
    std::ranges::move(page.names, std::back_inserter(all));
    cursor = page.next_cursor;
  } while (!cursor.empty());
  return all;
}

BreakDone Speaker::break_name(const std::string& name, BreakMode mode) {
  return expect<BreakDone>(
      ask<BreakReply>([&](auto done) { store_->break_name(name, mode, std::move(done)); }), "done");
}

Granted Speaker::grant(const Claim& claim) { return expect<Granted>(acquire(claim), "granted"); }

Queued Speaker::queue(const Claim& claim) {
  return expect<Queued>(acquire(claim, Store::Queueing::yes), "queued");
}

Busy Speaker::busy(const Claim& claim, Store::Queueing queueing) {
  return expect<Busy>(acquire(claim, queueing), "busy");
}

void Speaker::release(const Claim& claim, WithdrawOptions options) {
  expect<Released>(withdraw(claim, options), "released");
}

AllGranted Speaker::grant_all(const std::vector<Claim>& claims) {
  return expect<AllGranted>(acquire_all(claims), "all granted");
}

AllBusy Speaker::all_busy(const std::vector<Claim>& claims) {
  return expect<AllBusy>(acquire_all(claims), "not all free");
}

void Speaker::expect_done(const Claim& claim, Store::Queueing queueing) {
  expect<AlreadyDone>(acquire(claim, queueing), "already done");
}

void Speaker::expect_invalid(const Claim& claim, Store::Queueing queueing) {
  const Failed failed = expect<Failed>(acquire(claim, queueing), "refused");
  EXPECT_EQ(failed.code, make_error_code(errc::invalid_options)) << failed.detail;
  EXPECT_FALSE(failed.may_have_had_effect);
  EXPECT_FALSE(failed.detail.empty());
}

std::optional<HandedOff> Speaker::find_hand_off(const OwnerId& owner) const {
  for (const StoreEvent& event : heard_) {
    const auto* handed = std::get_if<HandedOff>(&event);
    if (handed != nullptr && handed->owner == owner) {
      return *handed;
    }
  }
  return std::nullopt;
}

HandedOff Speaker::await_hand_off(const OwnerId& owner) {
  if (!run_until([&] { return has_heard_hand_off(owner); }, 2s)) {
    throw std::runtime_error("the hand-off was never told");
  }
  return *find_hand_off(owner);
}

bool Speaker::await_broken(const OwnerId& owner) {
  return run_until(
      [&] {
        return std::ranges::any_of(heard_, [&](const StoreEvent& event) {
          const auto* broken = std::get_if<MarkedBroken>(&event);
          return broken != nullptr && broken->owner == owner;
        });
      },
      2s);
}

bool Speaker::await_hint(const OwnerId& owner) {
  return run_until(
      [&] {
        return std::ranges::any_of(heard_, [&](const StoreEvent& event) {
          const auto* hint = std::get_if<MaybeFree>(&event);
          return hint != nullptr && hint->owner == owner;
        });
      },
      2s);
}

void StoreTest::SetUp() {
  const std::string kind = GetParam().name.substr(0, GetParam().name.find('_'));
  HOLDFAST_NEEDS(kind, GetParam().why_not.empty(), GetParam().why_not);
  place_ = GetParam().make();
  store_ = std::make_unique<Speaker>(place_->lane(), place_->open(), Speaker::Listening::yes);
}

Claim StoreTest::claim(const std::string& name, Duration ttl) {
  Claim made;
  made.name = name;
  place_->lane().random_bytes(made.owner.bytes);
  made.ttl = ttl;
  made.liveness = liveness_of(ttl);
  made.who = {"host-" + made.owner.text().substr(0, 4), 4711, "a note"};
  return made;
}

Claim StoreTest::waiter(const std::string& name, Duration liveness, Duration ttl) {
  Claim made = claim(name, ttl);
  made.liveness = liveness;
  return made;
}

Claim StoreTest::reader(const std::string& name, Duration ttl) {
  Claim made = claim(name, ttl);
  made.mode = Mode::shared;
  return made;
}

Claim StoreTest::permit(std::uint32_t limit, std::uint32_t permits, Duration ttl) {
  Claim made = claim("pool", ttl);
  made.mode = Mode::shared;
  made.limit = limit;
  made.permits = permits;
  return made;
}

void StoreTest::pass(Duration time) {
  auto over = std::make_shared<bool>(false);
  Lane& lane = place_->lane();
  lane.call_at(lane.now() + time, [over] { *over = true; });
  lane.run_until([over] { return *over; });
}

bool StoreTest::run_until(const std::function<bool()>& done, Duration at_most) {
  const Instant end = now() + at_most;
  while (!done() && now() < end) {
    pass(1ms);
  }
  return done();
}

Instant StoreTest::until_granted(const Claim& wanted) {
  const Instant give_up_at = now() + 5s;
  while (now() < give_up_at) {
    if (std::holds_alternative<Granted>(store().acquire(wanted))) {
      return now();
    }
    pass(5ms);
  }
  throw std::runtime_error("never granted");
}

Speaker& StoreTest::second() {
  if (!second_) {
    second_ = std::make_unique<Speaker>(place_->lane(), place_->open(), Speaker::Listening::no);
  }
  return *second_;
}

Speaker StoreTest::elsewhere() {
  return Speaker{place_->lane(), place_->open_elsewhere(), Speaker::Listening::yes};
}

bool StoreTest::is_gone(const RenewReply& reply, GoneReason reason) {
  const auto* gone = std::get_if<Gone>(&reply);
  return gone != nullptr && gone->reason == reason;
}

std::vector<OwnerId> StoreTest::waiters(const std::string& name) {
  std::vector<OwnerId> owners;
  for (const Waiter& waiting : store().inspect(name).waiters) {
    owners.push_back(waiting.owner);
  }
  return owners;
}

std::vector<OwnerId> StoreTest::holders(const std::string& name) {
  std::vector<OwnerId> owners;
  for (const Holder& held : store().inspect(name).holders) {
    owners.push_back(held.owner);
  }
  return owners;
}

std::optional<Holder> StoreTest::holder(const std::string& name) {
  const NameView view = store().inspect(name);
  return view.holders.empty() ? std::nullopt : std::optional{view.holders.front()};
}

}  // namespace holdfast::conformance
