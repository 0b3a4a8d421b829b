#include "store/cluster/router.hpp"

#include <holdfast/error.hpp>

#include "base/duration_text.hpp"
#include "runtime/event_loop.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::cluster {

namespace {

constexpr Duration tell_every = std::chrono::seconds{5};
constexpr Duration unused_long = std::chrono::seconds{30};

std::string no_node(Slot slot) {
  return "no node of the cluster serves slot " + std::to_string(slot) + " now";
}

}  // namespace

Router::Router(EventLoop& loop, std::shared_ptr<const Settings> settings)
    : loop_(loop), settings_(std::move(settings)), discovery_(settings_->seeds) {}

Router::~Router() { close(); }

void Router::keep_watch(UniqueFunction<void()> doubt) {
  doubt_ = std::move(doubt);
  settings_->hub->join(loop_, [this](const Address& node) { watch(node); });
}

void Router::watch(const Address& node) {
  if (closed_) {
    return;
  }
  pulse_.used(loop_.now());
  node_at(node)->used = loop_.now();
  if (!map_.known()) {
    want(Discovery::Why::start);
  }
  arm_at(loop_.now());
}

void Router::tell_hub(const Address& node, Instant now) {
  const auto [told, is_new] = told_.try_emplace(node, now);
  if (is_new || now >= told->second + tell_every) {
    told->second = now;
    settings_->hub->depends_on(node);
  }
}

void Router::close() noexcept {
  closed_ = true;
  if (doubt_) {
    settings_->hub->leave();
  }
  loop_.cancel(std::exchange(timer_, 0));
  for (const auto& [address, node] : nodes_) {
    node->link.close();
  }
  parked_.clear();
}

// ---- requests ----------------------------------------------------------------------------------

void Router::send(Slot slot, redis::Request request, Instant deadline, Handler handler,
                  std::vector<OwnerId> acquires) {
  if (closed_) {
    return;
  }
  pulse_.used(loop_.now());
  if (doubt_ && map_.known()) {
    arm_at(pulse_.wake_at(loop_.now()));
  }
  travel(std::make_shared<Travel>(Travel{.journey = Journey{slot, deadline},
                                         .request = std::move(request),
                                         .handler = std::move(handler),
                                         .acquires = std::move(acquires)}));
}

void Router::when_known(Instant deadline, UniqueFunction<void(const Failed*)> go) {
  const auto waiting = std::make_shared<Travel>(
      Travel{.journey = Journey{0, deadline},
             .handler = [go = std::move(go)](redis::Outcome outcome) mutable {
               go(std::get_if<Failed>(&outcome));
             }});
  loop_.post([this, waiting, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired() && !closed_) {
      travel(waiting);
    }
  });
}

void Router::send_after_acquires_of(const OwnerId& owner, Slot slot, redis::Request request,
                                    Instant deadline, Handler handler) {
  const Address* const here = map_.primary_of(slot);
  bool copied = false;
  for (const auto& [address, node] : nodes_) {
    const bool its = here != nullptr && address == *here;
    copied = node->link.copy_behind_acquires_of(owner, request, deadline, !its) || copied;
    if (its && node->link.awaits(owner)) {
      request.with_text();
    }
  }
  send(slot, std::move(request), deadline,
       [copied, handler = std::move(handler)](redis::Outcome outcome) mutable {
         if (auto* failed = std::get_if<Failed>(&outcome)) {
           failed->may_have_had_effect = failed->may_have_had_effect || copied;
         }
         handler(std::move(outcome));
       });
}

void Router::send_to(const Address& node, redis::Request request, Instant deadline,
                     Handler handler) {
  const std::shared_ptr<Node> its = node_at(node);
  ++its->in_flight;
  its->used = loop_.now();
  its->link.send(std::move(request), deadline,
                 [this, its, handler = std::move(handler)](redis::Outcome outcome) mutable {
                   --its->in_flight;
                   if (auto* reply = std::get_if<redis::Reply>(&outcome);
                       reply != nullptr && reply->is_error()) {
                     const Failed failed =
                         redis::failure_of(reply->error(), its->settings->commands.place);
                     outcome = failed;
                   }
                   const std::weak_ptr<char> alive = alive_;
                   answering_ = its;
                   handler(std::move(outcome));
                   if (!alive.expired()) {
                     answering_.reset();
                   }
                 });
}

void Router::distrust_answering_peer() {
  if (answering_) {
    answering_->link.distrust_answering_peer();
  }
}

// ---- on the way --------------------------------------------------------------------------------

void Router::travel(const Traveller& traveller) {
  Travel& it = *traveller;
  const Instant now = loop_.now();
  if (refused_) {
    loop_.post([traveller, why = *refused_] { traveller->handler(why); });
    return;
  }
  if (!map_.known() || format_ != Format::known) {
    parked_.push_back(traveller);
    arm_at(it.journey.deadline());
    discovery_.want(now, Discovery::Why::start);
    map_.known() ? check_format() : look();
    return;
  }
  if (!it.request) {
    it.handler(redis::Reply{});
    return;
  }
  const Address* const owner = map_.primary_of(it.journey.slot());
  const std::optional<Address> to = it.journey.redirected_to() ? it.journey.redirected_to()
                                    : owner != nullptr         ? std::optional<Address>{*owner}
                                                               : std::nullopt;
  if (!to) {
    want(Discovery::Why::trouble);
    proceed(traveller,
            it.journey.on_unreachable(
                redis::failed_with(errc::store_unavailable, settings_->any_node.commands.place,
                                   no_node(it.journey.slot())),
                now));
    return;
  }
  redis::Request request = *it.request;
  if (it.journey.asking()) {
    request.with_asking();
  }
  if (!doubt_ && !it.acquires.empty()) {
    tell_hub(*to, now);
  }
  const std::shared_ptr<Node> its = node_at(*to);
  ++its->in_flight;
  its->used = now;
  its->link.send(
      std::move(request), it.journey.deadline(),
      [this, its, traveller, at = *to](redis::Outcome outcome) {
        --its->in_flight;
        const std::weak_ptr<char> alive = alive_;
        answering_ = its;
        on_outcome(traveller, at, std::move(outcome));
        if (!alive.expired()) {
          answering_.reset();
        }
      },
      it.acquires);
}

void Router::on_outcome(const Traveller& traveller, const Address& at, redis::Outcome outcome) {
  const Instant now = loop_.now();
  if (auto* reply = std::get_if<redis::Reply>(&outcome)) {
    if (const std::string_view error = reply->error(); !error.empty()) {
      on_error(traveller, at, error);
    } else {
      traveller->handler(std::move(outcome));
    }
    return;
  }
  auto& failed = std::get<Failed>(outcome);
  if (failed.code != errc::store_unavailable || failed.may_have_had_effect) {
    want(Discovery::Why::trouble);
    failed.may_have_had_effect =
        failed.may_have_had_effect || traveller->journey.may_have_had_effect();
    traveller->handler(std::move(outcome));
    return;
  }
  want(Discovery::Why::trouble);
  proceed(traveller, traveller->journey.on_unreachable(std::move(failed), now));
}

void Router::on_error(const Traveller& traveller, const Address& at, std::string_view error) {
  using Kind = Redirection::Kind;
  const Instant now = loop_.now();
  const Redirection redirection = parse_redirection(error, at);
  Failed failed = redis::failure_of(error, node_at(at)->settings->commands.place);
  if (redirection.kind != Kind::none && !redirection.may_have_had_effect) {
    failed.code = errc::store_unavailable;
    failed.may_have_had_effect = false;
    failed.detail = at.text() + ": " + std::string(error);
  }
  if (redirection.kind == Kind::moved) {
    want(Discovery::Why::move);
    on_map_changed(map_.move(redirection.slot, redirection.to));
  } else if (redirection.kind == Kind::trouble) {
    want(Discovery::Why::trouble);
  }
  proceed(traveller, traveller->journey.on_redirection(redirection, std::move(failed), now));
}

void Router::proceed(const Traveller& traveller, Journey::Next next) {
  switch (next) {
    case Journey::Next::send:
      travel(traveller);
      break;
    case Journey::Next::wait:
      parked_.push_back(traveller);
      arm_at(traveller->journey.wake_at());
      break;
    case Journey::Next::finish:
      traveller->handler(traveller->journey.failure());
      break;
  }
}

// Those whose pause is over, or all of them.
void Router::release_parked(bool due_only) {
  const Instant now = loop_.now();
  std::vector<Traveller> ready;
  std::vector<Traveller> later;
  for (Traveller& one : std::exchange(parked_, {})) {
    const bool due = now >= one->journey.wake_at() || now >= one->journey.deadline();
    (due_only && !due ? later : ready).push_back(std::move(one));
  }
  parked_ = std::move(later);
  const std::weak_ptr<char> alive = alive_;
  for (const Traveller& one : ready) {
    if (alive.expired() || closed_) {
      return;
    }
    proceed(one, one->journey.on_time(now));
  }
}

void Router::fail_parked(const Failed& why) {
  const std::weak_ptr<char> alive = alive_;
  for (const Traveller& one : std::exchange(parked_, {})) {
    if (alive.expired() || closed_) {
      return;
    }
    one->handler(why);
  }
}

// ---- nodes -------------------------------------------------------------------------------------

std::shared_ptr<Router::Node> Router::node_at(const Address& address) {
  std::shared_ptr<Node>& node = nodes_[address];
  if (!node) {
    node = std::make_shared<Node>(loop_, settings_->of_node(address));
    node->used = loop_.now();
    if (doubt_) {
      node->link.keep_connected([this] { tell_doubt(); });
    }
  }
  return node;
}

// A connection to a node that left the cluster would be tried again for ever.
void Router::drop_unused_nodes() {
  const std::vector<Address> known = map_.nodes();
  const Instant now = loop_.now();
  std::erase_if(nodes_, [&](const auto& one) {
    const Node& node = *one.second;
    return node.in_flight == 0 && now - node.used > unused_long && one.second != answering_ &&
           std::ranges::find(known, one.first) == known.end();
  });
}

net::Endpoint Router::next_node() {
  const std::vector<Address> nodes = map_.known() ? map_.primaries() : settings_->seeds;
  return settings_
      ->of_node(nodes.empty() ? settings_->seeds.front() : nodes[next_node_++ % nodes.size()])
      ->endpoint;
}

}  // namespace holdfast::cluster
