#include "store/redis/replies.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t holder_fields = 8;
constexpr std::size_t waiter_fields = 5;
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

// `first` is where owner, fence, held for, pid, broken, released, host, note begin.
std::optional<Holder> parse_holder(const Reply& reply, std::size_t first, std::int64_t pttl) {
  const auto owner = OwnerId::parse(reply.at(first).text());
  if (!owner || reply.size() < first + holder_fields) {
    return std::nullopt;
  }
  return Holder{.owner = *owner,
                .fence = Fence{reply.at(first + 1).number()},
                .who = {.host = std::string(reply.at(first + 6).text()),
                        .pid = reply.at(first + 3).number(),
                        .note = std::string(reply.at(first + 7).text())},
                .held_for = age_of(reply.at(first + 2)),
                .ttl_left = ttl_left_of(pttl),
                .broken = reply.at(first + 4).text() == "1",
                .released = reply.at(first + 5).text() == "1"};
}

// A plain SET NX of some other program. Its value is its secret and not shown.
Holder foreign_holder(std::int64_t pttl) {
  return Holder{.who = {.note = pttl == held_without_end ? "another Redis client, without an expiry"
                                                         : "another Redis client"},
                .ttl_left = ttl_left_of(pttl)};
}

}  // namespace

std::optional<AcquireReply> parse_acquired(const Reply& reply) {
  if (reply.size() == 1 && reply.at(0).integer() == 2) {
    return Busy{};
  }
  if (reply.size() < 2 || !reply.at(0).is_integer() || !reply.at(1).is_integer()) {
    return std::nullopt;
  }
  const std::int64_t kind = reply.at(0).integer();
  if (kind == 0) {
    const std::int64_t fence = reply.at(1).integer();
    if (fence <= 0 || !reply.at(2).is_integer()) {
      return std::nullopt;
    }
    return Granted{
        .fence = Fence{fence}, .floor = Fence{fence}, .ttl = milliseconds{reply.at(2).integer()}};
  }
  const std::int64_t pttl = reply.at(1).integer();
  const std::size_t size = reply.size();
  if ((kind != 1 && kind != 2) || (size != 2 && size != 2 + holder_fields)) {
    return std::nullopt;
  }
  std::optional<Holder> holder = size == 2 ? foreign_holder(pttl) : parse_holder(reply, 2, pttl);
  if (kind == 1) {
    const Fence last = holder ? holder->fence : Fence::none;
    return Queued{.recheck_in = recheck_of(pttl), .holder = std::move(holder), .last_fence = last};
  }
  return Busy{.recheck_in = recheck_of(pttl), .holder = std::move(holder)};
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
  if (!reply.is_array()) {
    return std::nullopt;
  }
  BreakDone done;
  if (reply.size() > 0) {
    const std::int64_t pttl = reply.at(0).integer();
    done.holders.push_back(reply.size() == 1
                               ? foreign_holder(pttl)
                               : parse_holder(reply, 1, pttl).value_or(foreign_holder(pttl)));
  }
  return done;
}

std::optional<NameView> parse_inspected(const Reply& reply, const std::string& name) {
  if (reply.size() != 4 || !reply.at(2).is_array() || !reply.at(3).is_array()) {
    return std::nullopt;
  }
  NameView view{.name = name};
  view.last_fence = Fence{reply.at(0).number()};
  const std::int64_t pttl = reply.at(1).integer();
  if (pttl >= held_without_end) {
    view.holders.push_back(parse_holder(reply.at(2), 0, pttl).value_or(foreign_holder(pttl)));
  }
  const Reply waiters = reply.at(3);
  for (std::size_t i = 0; i + waiter_fields <= waiters.size(); i += waiter_fields) {
    const auto owner = OwnerId::parse(waiters.at(i).text());
    if (!owner) {
      return std::nullopt;
    }
    view.waiters.push_back({.owner = *owner,
                            .who = {.host = std::string(waiters.at(i + 3).text()),
                                    .pid = waiters.at(i + 2).number(),
                                    .note = std::string(waiters.at(i + 4).text())},
                            .waiting_for = age_of(waiters.at(i + 1))});
  }
  return view;
}

}  // namespace holdfast::redis
