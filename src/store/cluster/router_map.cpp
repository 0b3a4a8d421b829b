// How the router keeps its map, and watches over the nodes.
#include "store/cluster/router.hpp"

#include <holdfast/error.hpp>

#include "runtime/event_loop.hpp"
#include "store/redis/keys.hpp"

#include <algorithm>
#include <charconv>

namespace holdfast::cluster {

namespace {

// What a server says that is no node of a cluster, told so that it helps.
Failed explained(Failed why, const Address& node) {
  if (why.detail.find("cluster support disabled") != std::string::npos) {
    return {errc::unsupported, false,
            node.text() + ": this server is not a node of a Redis Cluster; use redis://"};
  }
  return why;
}

}  // namespace

void Router::look() {
  const Instant now = loop_.now();
  while (const auto node = discovery_.next(map_.nodes(), now)) {
    ask_for_layout(*node);
  }
  arm_at(discovery_.wake_at());
}

void Router::want(Discovery::Why why) {
  discovery_.want(loop_.now(), why);
  arm_at(discovery_.wake_at());
}

void Router::ask_for_layout(const Address& node) {
  redis::Request request = redis::Request::of_command("CLUSTER");
  request.add("SLOTS");
  send_to(node, std::move(request), loop_.now() + settings_->any_node.op_timeout,
          [this, node](redis::Outcome outcome) { on_layout_answer(node, std::move(outcome)); });
}

void Router::on_layout_answer(const Address& from, redis::Outcome outcome) {
  if (auto* failed = std::get_if<Failed>(&outcome)) {
    on_no_layout(from, explained(std::move(*failed), from));
    return;
  }
  const auto layout = parse_layout(std::get<redis::Reply>(outcome), from);
  if (!layout) {
    distrust_answering_peer();
    on_no_layout(from, {errc::store_unavailable, false,
                        from.text() + ": an answer to CLUSTER SLOTS that makes no sense"});
    return;
  }
  last_failure_.reset();
  discovery_.on_layout(from, loop_.now());
  const bool replaced = map_.apply(*layout);
  drop_unused_nodes();
  on_map_changed(replaced);
  arm();
  if (format_ == Format::known) {
    release_parked(false);
  } else {
    check_format();
  }
}

void Router::on_no_layout(const Address& from, Failed why) {
  // What will not pass by itself tells more than what may.
  if (!last_failure_ || !(why.code == failure::transient)) {
    last_failure_ = std::move(why);
  }
  if (discovery_.on_failure(from, loop_.now())) {
    if (const auto failed = std::exchange(last_failure_, {}); !map_.known() && failed) {
      const std::weak_ptr<char> alive = alive_;
      fail_parked(*failed);
      if (alive.expired() || closed_) {
        return;
      }
    }
  }
  look();
}

// A newer holdfast marks its prefix in one key of the cluster; only the node that has it can tell.
void Router::check_format() {
  if (format_ == Format::asked) {
    return;
  }
  format_ = Format::asked;
  const std::string key =
      settings_->any_node.keys.prefix() + redis::unit_separator + std::string("format");
  redis::Request request = redis::Request::of_command("GET");
  request.add(key);
  const Address* const owner = map_.primary_of(slot_of(key));
  if (owner == nullptr) {
    format_ = Format::unknown;
    want(Discovery::Why::trouble);
    return;
  }
  send_to(*owner, std::move(request), loop_.now() + settings_->any_node.op_timeout,
          [this](redis::Outcome outcome) { on_format(std::move(outcome)); });
}

void Router::on_format(redis::Outcome outcome) {
  format_ = Format::known;
  if (const auto* failed = std::get_if<Failed>(&outcome)) {
    if (failed->code == failure::transient || failed->code == errc::unsupported) {
      format_ = Format::unknown;  // MOVED is unsupported to one that does not follow it
      want(Discovery::Why::trouble);
      return;
    }
    if (failed->code == errc::format_too_new) {
      refused_ = *failed;
    }
  } else {
    int version = 0;
    const std::string_view text = std::get<redis::Reply>(outcome).text();
    std::from_chars(text.data(), text.data() + text.size(), version);
    if (version > std::stoi(std::string(redis::format_version))) {
      refused_ = redis::failure_of("HOLDFAST_FORMAT", settings_->any_node.commands.place);
    }
  }
  release_parked(false);
}

// ---- watching ----------------------------------------------------------------------------------

void Router::on_map_changed(bool primary_replaced) {
  if (primary_replaced) {
    tell_doubt();
  }
}

void Router::tell_doubt() {
  if (!doubt_ || std::exchange(doubt_posted_, true)) {
    return;
  }
  loop_.post([this, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired() && !closed_) {
      doubt_posted_ = false;
      doubt_();
    }
  });
}

void Router::beat() {
  if (!doubt_ || !map_.known()) {
    return;
  }
  const Instant now = loop_.now();
  std::vector<Address> ours = map_.primaries();
  std::erase_if(ours, [this](const Address& node) { return !nodes_.contains(node); });
  for (const Address& node : pulse_.due(ours, now)) {
    send_to(node, redis::Request::of_command("TIME"), now + settings_->any_node.op_timeout,
            [this, node](const redis::Outcome& outcome) {
              pulse_.on_answer(node, std::holds_alternative<redis::Reply>(outcome));
              arm_at(pulse_.wake_at(loop_.now()));
            });
  }
  if (pulse_.in_doubt(now) || (pulse_.in_use(now) && map_.lost_any())) {
    want(Discovery::Why::trouble);
  }
}

void Router::arm() {
  if (closed_) {
    return;
  }
  Instant wanted = discovery_.wake_at();
  if (doubt_ && map_.known()) {
    wanted = std::min(wanted, pulse_.wake_at(loop_.now()));
  }
  for (const Traveller& one : parked_) {
    const bool paused = map_.known() && format_ == Format::known;
    wanted = std::min(wanted, paused ? one->journey.wake_at() : one->journey.deadline());
  }
  arm_at(wanted);
}

// The timer is moved only to an earlier time: one that fires too early finds nothing to do.
void Router::arm_at(Instant at) {
  if (closed_ || at >= timer_at_) {
    return;
  }
  loop_.cancel(timer_);
  timer_at_ = at;
  timer_ = loop_.call_at(at, [this] { on_timer(); });
}

void Router::on_timer() {
  timer_at_ = Instant::max();
  const std::weak_ptr<char> alive = alive_;
  beat();
  if (map_.known() && format_ == Format::known) {
    release_parked(true);
  } else {
    expire_parked();
  }
  if (!alive.expired() && !closed_) {
    look();
    arm();
  }
}

// There is no map yet: only what has no time left goes on.
void Router::expire_parked() {
  const Instant now = loop_.now();
  const Failed why = last_failure_.value_or(redis::failed_with(
      errc::store_unavailable, settings_->any_node.commands.place,
      map_.known() ? "the node that keeps the format of the prefix does not answer"
                   : "no node of the cluster answers"));
  std::vector<Traveller> late;
  std::erase_if(parked_, [&](Traveller& one) {
    const bool over = now >= one->journey.deadline();
    if (over) {
      late.push_back(one);
    }
    return over;
  });
  const std::weak_ptr<char> alive = alive_;
  for (const Traveller& one : late) {
    if (alive.expired() || closed_) {
      return;
    }
    one->handler(why);
  }
}

}  // namespace holdfast::cluster
