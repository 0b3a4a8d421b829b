#include "tests/traces/conversation.hpp"

#include "base/duration_text.hpp"

#include <sstream>
#include <stdexcept>
#include <utility>

namespace holdfast::traces {

using detail::LeasePhase;
using detail::LeaseState;
using std::chrono::seconds;

Command Command::parse(const std::string& line) {
  std::istringstream stream{line};
  Command command;
  stream >> command.verb;
  for (std::string word; stream >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      command.words.push_back(word);
    } else {
      command.options[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return command;
}

std::string Command::word(std::size_t index) const {
  if (index >= words.size()) {
    throw std::runtime_error{"'" + verb + "' needs more words"};
  }
  return words[index];
}

Duration Command::duration(const std::string& key, Duration otherwise) const {
  const auto found = options.find(key);
  return found == options.end() ? otherwise : parse_duration(found->second).value();
}

Fence Command::fence() const {
  const auto found = options.find("fence");
  return found == options.end() ? Fence::none : Fence{std::stoll(found->second)};
}

Conversation::Conversation() {
  auto store = std::make_unique<test::ScriptedStore>();
  store_ = store.get();
  store_->on_asked = [this](const test::ScriptedStore::Asked& request) { asked(request); };
  engine_.emplace(runtime_, std::move(store), *this);
}

Conversation::~Conversation() = default;

std::string Conversation::run(const std::string& text) {
  const Command command = Command::parse(text);
  happened_.clear();
  if (command.verb == "wait") {
    const bool bounded = command.options.contains("timeout");
    wait(command, bounded ? std::optional{command.duration("timeout", {})} : std::nullopt);
  } else if (command.verb == "try") {
    wait(command, Duration{0});
  } else if (command.verb == "all") {
    wait_for_all(command);
  } else if (command.verb == "all_reply") {
    reply_to_all(command);
  } else if (command.verb == "cancel_all") {
    engine_->cancel_all(1);
  } else if (command.verb == "reply") {
    reply(command);
  } else if (command.verb == "tell") {
    tell(command);
  } else if (command.verb == "after") {
    runtime_.pass(parse_duration(command.word(0)).value());
  } else if (command.verb == "stopped") {
    runtime_.jump(parse_duration(command.word(0)).value());
  } else if (command.verb == "cancel") {
    engine_->cancel(owner_of(command.word(0)));
  } else if (command.verb == "release") {
    release(command.word(0));
  } else if (command.verb == "stale") {
    engine_->report_stale(owner_of(command.word(0)));
  } else if (command.verb == "close") {
    engine_->close([this] { line("closed"); });
  } else {
    throw std::runtime_error{"no such command: " + text};
  }
  runtime_.run();
  return happened_.empty() ? "(nothing)\n" : happened_;
}

void Conversation::wait(const Command& command, std::optional<Duration> timeout) {
  LeaseOptions options;
  options.ttl = command.duration("ttl", options.ttl);
  options.renew = !command.options.contains("renew");
  if (command.options.contains("max_hold")) {
    options.max_hold = command.duration("max_hold", {});
  }
  if (command.options.contains("lock_delay")) {
    options.lock_delay = command.duration("lock_delay", {});
  }
  Claim claim;
  claim.name = "job";
  claim.owner = owner_of(command.word(0));
  claim.ttl = options.ttl;
  claim.lock_delay = options.lock_delay.value_or(Duration{0});
  const auto deadline = timeout ? std::optional{runtime_.now() + *timeout} : std::nullopt;
  engine_->start(AcquireMachine{claim, options.safety_margin, deadline},
                 [this, options](const AcquireMachine& machine) { ended(machine, options); });
}

void Conversation::ended(const AcquireMachine& machine, const LeaseOptions& options) {
  const AcquireResult& result = machine.result();
  const std::string owner = name_of(machine.claim().owner);
  if (result.code) {
    line(owner + " is not granted: " + error_word(static_cast<errc>(result.code.value())) +
         (result.detail.empty() ? "" : " (" + result.detail + ")"));
    return;
  }
  line(owner + " is granted" + (result.provisional ? " provisionally" : "") + ", fence " +
       std::to_string(to_int(result.fence)) + ", trusted until " + instant(result.trusted_until));
  auto lease = std::make_shared<LeaseState>(machine.claim(), result.fence, result.floor,
                                            result.trusted_until);
  lease->tombstone = result.tombstone;
  leases_[owner] = lease;
  const LeaseMachine::Grant grant{result.ttl, result.sent, result.trusted_until,
                                  result.provisional};
  engine_->hold(lease, LeaseMachine{options, grant, std::hash<OwnerId>{}(lease->claim.owner)});
}

void Conversation::wait_for_all(const Command& command) {
  std::vector<Claim> claims;
  for (const char name : command.word(0)) {
    Claim claim;
    claim.name = std::string(1, name);
    claim.owner = owner_of(claim.name);
    claim.ttl = seconds{30};
    claims.push_back(claim);
  }
  const Duration timeout = command.duration("timeout", seconds{60});
  AcquireAllMachine machine{std::move(claims), std::nullopt, runtime_.now() + timeout, true,
                            [this] { return owner_of(std::string(1, next_owner_++)); }};
  engine_->acquire_all(1, std::move(machine),
                       [this](const AcquireAllMachine& ended) { all_ended(ended); });
}

void Conversation::all_ended(const AcquireAllMachine& machine) {
  if (machine.result().code) {
    line("not granted: " +
         std::string{error_word(static_cast<errc>(machine.result().code.value()))});
    return;
  }
  for (std::size_t i = 0; i < machine.claims().size(); ++i) {
    line(machine.claims()[i].name + " is granted to " + name_of(machine.claims()[i].owner) +
         ", trusted until " + instant(machine.grants()[i]->trusted_until));
  }
}

void Conversation::reply_to_all(const Command& command) {
  const std::string kind = command.word(0);
  const auto which = command.options.find("which");
  if (kind == "granted") {
    AllGranted all;
    while (all.size() < store_->asked().front().claims.size()) {
      all.push_back({command.fence(), command.fence(), seconds{30}});
    }
    store_->answer_all(all);
  } else if (kind == "busy") {
    const std::size_t index = which == command.options.end() ? 0 : std::stoul(which->second);
    store_->answer_all(AllBusy{index, Busy{seconds{20}, {}}});
  } else if (kind == "unavailable") {
    store_->answer_all(Failed{errc::store_unavailable, false, ""});
  } else if (kind == "unknown") {
    store_->answer_all(Failed{errc::outcome_unknown, true, ""});
  } else {
    throw std::runtime_error{"no such reply: " + kind};
  }
}

void Conversation::reply(const Command& command) {
  const std::string kind = command.word(0);
  const Duration ttl = command.duration("ttl", seconds{30});
  Holder holder;
  holder.fence = command.fence();
  holder.owner.bytes[0] = static_cast<std::uint8_t>(to_int(holder.fence));
  const auto behind = command.fence() == Fence::none ? std::nullopt : std::optional{holder};
  const Duration left = command.duration("left", seconds{20});
  if (kind == "granted") {
    store_->answer(AcquireReply{Granted{command.fence(), command.fence(), ttl}});
  } else if (kind == "queued") {
    store_->answer(AcquireReply{Queued{left, behind, command.fence()}});
  } else if (kind == "busy") {
    store_->answer(AcquireReply{Busy{left, behind}});
  } else if (kind == "renewed") {
    store_->answer(RenewReply{Renewed{ttl}});
  } else if (kind == "taken") {
    store_->answer(RenewReply{Gone{GoneReason::taken}});
  } else if (kind == "broken") {
    store_->answer(RenewReply{Gone{GoneReason::broken}});
  } else if (kind == "released") {
    store_->answer(WithdrawReply{Released{}});
  } else if (kind == "not_owner") {
    store_->answer(WithdrawReply{NotOwner{}});
  } else if (kind == "unavailable") {
    reply_failed(command, errc::store_unavailable, false);
  } else if (kind == "unknown") {
    reply_failed(command, errc::outcome_unknown, true);
  } else if (kind == "denied") {
    reply_failed(command, errc::access_denied, false);
  } else {
    throw std::runtime_error{"no such reply: " + kind};
  }
}

void Conversation::reply_failed(const Command& command, errc code, bool may_have_had_effect) {
  const Failed failed{code, may_have_had_effect, ""};
  const auto to = command.options.find("to");
  const std::string verb = to == command.options.end() ? "acquire" : to->second;
  if (verb == "acquire") {
    store_->answer(AcquireReply{failed});
  } else if (verb == "renew") {
    store_->answer(RenewReply{failed});
  } else {
    store_->answer(WithdrawReply{failed});
  }
}

void Conversation::tell(const Command& command) {
  const std::string kind = command.word(0);
  if (kind == "doubt") {
    store_->tell(Doubt{});
  } else if (kind == "handed_off") {
    store_->tell(HandedOff{owner_of(command.word(1)), command.fence(), command.fence()});
  } else if (kind == "maybe_free") {
    store_->tell(MaybeFree{owner_of(command.word(1))});
  } else if (kind == "broken") {
    store_->tell(MarkedBroken{owner_of(command.word(1))});
  } else {
    throw std::runtime_error{"nothing tells: " + kind};
  }
}

void Conversation::release(const std::string& owner) {
  const std::shared_ptr<LeaseState> lease = leases_.at(owner);
  if (!lease->leave_held(LeasePhase::released)) {
    line(owner + " has nothing to release: " + error_word(lease->why.load()));
    return;
  }
  engine_->release(lease, [this, owner](std::error_code code) {
    line(owner + " is released" +
         (code ? std::string{": "} + error_word(static_cast<errc>(code.value())) : ""));
  });
}

void Conversation::asked(const test::ScriptedStore::Asked& request) {
  using Verb = test::ScriptedStore::Asked::Verb;
  std::string owners;
  for (const Claim& claim : request.claims) {
    owners += (owners.empty() ? "" : " ") + name_of(claim.owner);
  }
  switch (request.verb) {
    case Verb::acquire:
      line("store < acquire " + owners +
           (request.queueing == Store::Queueing::yes ? ", queue" : ""));
      break;
    case Verb::acquire_all:
      line("store < acquire all of " + owners);
      break;
    case Verb::renew:
      line("store < renew " + owners + " for " + duration_text(request.claim().ttl));
      break;
    case Verb::withdraw:
      line("store < withdraw " + owners + (request.options.keep_min_hold ? ", after use" : "") +
           (request.options.tombstone ? ", refuse it later" : ""));
      break;
  }
}

void Conversation::on_event(Event event) {
  const std::string owner = name_of(event.owner);
  switch (event.kind) {
    case Event::Kind::waiting:
      line("observer: " + owner + " waits behind fence " +
           std::to_string(to_int(event.holder.fence)));
      break;
    case Event::Kind::renewed:
      line("observer: " + owner + " is renewed, trusted until " + instant(event.until));
      break;
    case Event::Kind::renewal_failed:
      line("observer: a renewal of " + owner + " failed, trusted until " + instant(event.until));
      break;
    case Event::Kind::lost:
      line("observer: " + owner + " is lost: " + error_word(static_cast<errc>(event.code.value())));
      break;
    case Event::Kind::granted:
    case Event::Kind::not_granted:
    case Event::Kind::released:
      break;  // told by the caller's handler as well
  }
}

void Conversation::on_lost(const std::shared_ptr<LeaseState>& lease) {
  line(name_of(lease->claim.owner) + " is asked to stop");
}

void Conversation::line(const std::string& text) {
  std::string stamp = instant(runtime_.now());
  stamp.resize(std::max<std::size_t>(stamp.size() + 1, 10), ' ');
  happened_ += stamp + text + "\n";
}

OwnerId Conversation::owner_of(const std::string& name) const {
  OwnerId owner;
  owner.bytes[0] = 0xff;
  owner.bytes[1] = static_cast<std::uint8_t>(name.at(0));
  return owner;
}

std::string Conversation::name_of(const OwnerId& owner) const {
  return std::string(1, static_cast<char>(owner.bytes[1]));
}

std::string Conversation::instant(Instant when) const {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(when - start_);
  return "+" + std::to_string(since.count()) + "ms";
}

}  // namespace holdfast::traces
