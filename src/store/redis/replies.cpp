#include "store/redis/replies.hpp"

#include <holdfast/error.hpp>

#include <algorithm>
#include <utility>

namespace holdfast::redis {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t holder_fields = 13;
constexpr std::size_t waiter_fields = 8;
constexpr std::int64_t nobody_holds = -2;      // PTTL of a key that is not there
constexpr std::int64_t held_without_end = -1;  // PTTL of a key without an expiry
constexpr Duration recheck_without_end = std::chrono::minutes{1};

// A lock without an expiry (some other client's) is looked at again by timer.
Duration recheck_of(std::int64_t pttl) {
  return pttl == held_without_end ? recheck_without_end
                                  : milliseconds{std::max<std::int64_t>(pttl, 0)};
}

Duration ttl_left_of(std::int64_t pttl) {
  return pttl == held_without_end ? ttl_max : milliseconds{std::max<std::int64_t>(pttl, 0)};
}

// The server's clock may step back.
Duration age_of(const Reply& age) { return milliseconds{std::max<std::int64_t>(age.number(), 0)}; }

Mode mode_of(const Reply& mode) { return mode.text() == "shared" ? Mode::shared : Mode::exclusive; }

std::uint32_t count_of(const Reply& count) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(count.number(), 0, limit_max));
}

// `first` is where the fields of view_lua begin: owner, fence, ms held, pid, broken, released,
// host, note, mode, permits, limit, value, ms left.
std::optional<Holder> parse_holder(const Reply& reply, std::size_t first) {
  const auto owner = OwnerId::parse(reply.at(first).text());
  if (!owner || reply.size() < first + holder_fields) {
    return std::nullopt;
  }
  return Holder{.owner = *owner,
                .mode = mode_of(reply.at(first + 8)),
                .fence = Fence{reply.at(first + 1).number()},
                .who = {.host = std::string(reply.at(first + 6).text()),
                        .pid = reply.at(first + 3).number(),
                        .note = std::string(reply.at(first + 7).text())},
                .held_for = age_of(reply.at(first + 2)),
                .ttl_left = ttl_left_of(reply.at(first + 12).number()),
                .broken = reply.at(first + 4).text() == "1",
                .released = reply.at(first + 5).text() == "1",
                .permits = count_of(reply.at(first + 9)),
                .limit = count_of(reply.at(first + 10)),
                .value = std::string(reply.at(first + 11).text())};
}

// A plain SET NX of some other program. Its value is its secret and not shown.
Holder foreign_holder(std::int64_t pttl) {
  return Holder{.who = {.note = pttl == held_without_end ? "another Redis client, without an expiry"
                                                         : "another Redis client"},
                .ttl_left = ttl_left_of(pttl)};
}

// The holders that a reply lists, or, if the key is there and it lists none, a foreign one.
std::optional<std::vector<Holder>> parse_holders(const Reply& reply, std::int64_t pttl) {
  std::vector<Holder> holders;
  if (pttl == nobody_holds) {
    return holders;
  }
  for (std::size_t i = 0; i < reply.size(); i += holder_fields) {
    std::optional<Holder> holder = parse_holder(reply, i);
    if (!holder) {
      return std::nullopt;
    }
    holders.push_back(*std::move(holder));
  }
  if (holders.empty()) {
    holders.push_back(foreign_holder(pttl));
  }
  return holders;
}

// `first` is where fence, ttl and, if it is another, floor are.
std::optional<Granted> parse_granted(const Reply& reply, std::size_t first) {
  const std::int64_t fence = reply.at(first).integer();
  if (fence <= 0 || !reply.at(first + 1).is_integer()) {
    return std::nullopt;
  }
  const std::int64_t floor =
      reply.size() > first + 2 ? reply.at(first + 2).integer() : reply.at(first).integer();
  if (floor <= 0 || floor > fence) {
    return std::nullopt;
  }
  return Granted{.fence = Fence{fence},
                 .floor = Fence{floor},
                 .ttl = milliseconds{reply.at(first + 1).integer()}};
}

struct NotFree {
  Busy busy{};
  Fence last_fence = Fence::none;
};
// `first` is where recheck_in, last fence and perhaps a holder are.
std::optional<NotFree> parse_busy(const Reply& reply, std::size_t first) {
  const std::size_t size = reply.size();
  if (!reply.at(first).is_integer() || (size != first + 2 && size != first + 2 + holder_fields)) {
    return std::nullopt;
  }
  const std::int64_t pttl = reply.at(first).integer();
  NotFree seen{.busy = {.recheck_in = recheck_of(pttl)},
               .last_fence = Fence{reply.at(first + 1).number()}};
  if (size > first + 2) {
    seen.busy.holder = parse_holder(reply, first + 2);
    if (!seen.busy.holder) {
      return std::nullopt;
    }
    // The fence key may have been evicted.
    seen.last_fence = std::max(seen.last_fence, seen.busy.holder->fence);
  } else if (pttl != nobody_holds) {
    seen.busy.holder = foreign_holder(pttl);
  }
  return seen;
}

std::string use_of(std::uint32_t limit) {
  return limit == 0 ? "a lock" : "a semaphore with limit " + std::to_string(limit);
}

Failed contradiction(std::uint32_t in_use, std::uint32_t wanted, std::string_view start) {
  return {.code = errc::invalid_options,
          .detail = std::string{start} + "the name is in use as " + use_of(in_use) + ", not as " +
                    use_of(wanted)};
}

enum Kind : std::int64_t { granted = 0, queued = 1, busy = 2, contradicting = 3, done = 4 };

}  // namespace

bool grants(const Reply& reply) {
  return reply.at(0).is_integer() && reply.at(0).integer() == Kind::granted;
}

bool renews_any(const Reply& reply) {
  for (std::size_t i = 0; i < reply.size(); ++i) {
    if (reply.at(i).is_integer() && reply.at(i).integer() >= 0) {
      return true;
    }
  }
  return false;
}

std::optional<AcquireReply> parse_acquired(const Reply& reply, std::uint32_t limit) {
  if (!reply.at(0).is_integer()) {
    return std::nullopt;
  }
  const std::int64_t kind = reply.at(0).integer();
  if (kind == Kind::granted) {
    const auto parsed = parse_granted(reply, 1);
    return parsed ? std::optional<AcquireReply>{*parsed} : std::nullopt;
  }
  if (kind == Kind::contradicting && reply.size() == 2) {
    return contradiction(count_of(reply.at(1)), limit, "");
  }
  if (kind == Kind::done) {
    return AlreadyDone{};
  }
  if (kind == Kind::busy && reply.size() == 1) {
    return Busy{};
  }
  std::optional<NotFree> seen;
  if (kind == Kind::queued || kind == Kind::busy) {
    seen = parse_busy(reply, 1);
  }
  if (!seen) {
    return std::nullopt;
  }
  if (kind == Kind::busy) {
    return std::move(seen->busy);
  }
  return Queued{.recheck_in = seen->busy.recheck_in,
                .holder = std::move(seen->busy.holder),
                .last_fence = seen->last_fence};
}

std::optional<AcquireAllReply> parse_all_acquired(const Reply& reply,
                                                  std::span<const Claim> claims) {
  if (!reply.at(0).is_integer()) {
    return std::nullopt;
  }
  const std::int64_t kind = reply.at(0).integer();
  if (kind == Kind::granted) {
    AllGranted all;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      const auto one = parse_granted(reply, 1 + 3 * i);
      if (!one || reply.size() != 1 + 3 * claims.size()) {
        return std::nullopt;
      }
      all.push_back(*one);
    }
    return all;
  }
  const auto which = static_cast<std::size_t>(reply.at(1).integer());
  if (!reply.at(1).is_integer() || which >= claims.size()) {
    return std::nullopt;
  }
  if (kind == Kind::contradicting && reply.size() == 3) {
    return contradiction(count_of(reply.at(2)), claims[which].limit,
                         "\"" + claims[which].name + "\": ");
  }
  auto seen = kind == Kind::busy ? parse_busy(reply, 2) : std::nullopt;
  if (!seen) {
    return std::nullopt;
  }
  return AllBusy{.which = which, .busy = std::move(seen->busy)};
}

std::optional<AmendReply> parse_amended(const Reply& reply) {
  if (!reply.is_integer()) {
    return std::nullopt;
  }
  switch (reply.integer()) {
    case 1:
      return Amended{};
    case -1:
      return Gone{GoneReason::taken};
    case -2:
      return Gone{GoneReason::broken};
    case -3:
      return Failed{.code = errc::invalid_options,
                    .detail = "a shared lease cannot become an exclusive one"};
    default:
      return std::nullopt;
  }
}

std::optional<std::vector<RenewReply>> parse_renewed(const Reply& reply, std::size_t count) {
  if (!reply.is_array() || reply.size() != count) {
    return std::nullopt;
  }
  std::vector<RenewReply> replies;
  replies.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const Reply one = reply.at(i);
    if (!one.is_integer()) {
      return std::nullopt;
    }
    if (one.integer() >= 0) {
      replies.emplace_back(Renewed{milliseconds{one.integer()}});
    } else {
      replies.emplace_back(Gone{one.integer() == -2 ? GoneReason::broken : GoneReason::taken});
    }
  }
  return replies;
}

std::optional<WithdrawReply> parse_withdrawn(const Reply& reply) {
  if (!reply.is_integer()) {
    return std::nullopt;
  }
  std::optional<WithdrawReply> answer{std::in_place, NotOwner{}};
  if (reply.integer() == 1) {
    answer->emplace<Released>();
  }
  return answer;
}

std::optional<BreakReply> parse_broken(const Reply& reply) {
  if (reply.size() != 2 || !reply.at(0).is_integer() || !reply.at(1).is_array()) {
    return std::nullopt;
  }
  auto holders = parse_holders(reply.at(1), reply.at(0).integer());
  if (!holders) {
    return std::nullopt;
  }
  return BreakDone{.holders = *std::move(holders)};
}

std::optional<NameView> parse_inspected(const Reply& reply, const std::string& name) {
  if (reply.size() != 4 || !reply.at(2).is_array() || !reply.at(3).is_array()) {
    return std::nullopt;
  }
  NameView view{.name = name};
  view.last_fence = Fence{reply.at(0).number()};
  auto holders = parse_holders(reply.at(2), reply.at(1).integer());
  if (!holders) {
    return std::nullopt;
  }
  view.holders = *std::move(holders);
  const Reply waiters = reply.at(3);
  for (std::size_t i = 0; i + waiter_fields <= waiters.size(); i += waiter_fields) {
    const auto owner = OwnerId::parse(waiters.at(i).text());
    if (!owner) {
      return std::nullopt;
    }
    view.waiters.push_back({.owner = *owner,
                            .mode = mode_of(waiters.at(i + 5)),
                            .who = {.host = std::string(waiters.at(i + 3).text()),
                                    .pid = waiters.at(i + 2).number(),
                                    .note = std::string(waiters.at(i + 4).text())},
                            .waiting_for = age_of(waiters.at(i + 1)),
                            .permits = count_of(waiters.at(i + 6)),
                            .limit = count_of(waiters.at(i + 7))});
  }
  return view;
}

}  // namespace holdfast::redis
