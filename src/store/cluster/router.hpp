// The requests of one store, each sent to the node that serves its slot: connections to the nodes,
// the map of slots, and the requests that wait for either. Drives the machines of this folder.
#pragma once

#include <holdfast/function.hpp>
#include <holdfast/runtime.hpp>

#include "store/cluster/discovery.hpp"
#include "store/cluster/journey.hpp"
#include "store/cluster/pulse.hpp"
#include "store/cluster/settings.hpp"
#include "store/cluster/slot_map.hpp"
#include "store/redis/link.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::cluster {

class Router {
 public:
  using Handler = redis::Link::Handler;  // a Reply is never an error

  Router(EventLoop& loop, std::shared_ptr<const Settings> settings);
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;
  ~Router();

  // From the first request on, finds out by itself when a primary was replaced, a slot got another
  // one, or a connection was made anew, and calls `doubt`: what was granted may be gone.
  void keep_watch(UniqueFunction<void()> doubt);
  // Leases depend on this node: a watch begins, if there is none.
  void watch(const Address& node);

  // `handler` is called once, never from inside, at the latest at `deadline`. `acquires`: whom the
  // request may make holders.
  void send(Slot slot, redis::Request request, Instant deadline, Handler handler,
            std::vector<OwnerId> acquires = {});

  // As send(), and also behind every unanswered acquire of this owner, on whatever node.
  void send_after_acquires_of(const OwnerId& owner, Slot slot, redis::Request request,
                              Instant deadline, Handler handler);

  // To this node and no other. Errors are the caller's: nothing is redirected.
  void send_to(const Address& node, redis::Request request, Instant deadline, Handler handler);

  // Calls `go` when there is a map, or with why there is none, at the latest at `deadline`. Never
  // from inside.
  void when_known(Instant deadline, UniqueFunction<void(const Failed*)> go);

  const SlotMap& map() const noexcept { return map_; }

  // For a handler that was given a reply of a shape that cannot be: its connection ends.
  void distrust_answering_peer();

  // Where wake-ups may be listened to; another one at each call.
  net::Endpoint next_node();

  void close() noexcept;  // nothing may follow; handlers still pending are destroyed uncalled

 private:
  struct Node {
    Node(EventLoop& loop, std::shared_ptr<const redis::Settings> its)
        : settings(std::move(its)), place(settings->endpoint), link(loop, settings, place) {}
    std::shared_ptr<const redis::Settings> settings;
    redis::FixedLocator place;
    redis::Link link;
    std::size_t in_flight = 0;
    Instant used{};
  };
  struct Travel {
    Journey journey;
    std::optional<redis::Request> request{};  // none: it only waits for the map
    Handler handler{};
    std::vector<OwnerId> acquires{};
  };
  using Traveller = std::shared_ptr<Travel>;
  enum class Format : std::uint8_t { unknown, asked, known };

  std::shared_ptr<Node> node_at(const Address& address);
  void drop_unused_nodes();
  void tell_hub(const Address& node, Instant now);
  void travel(const Traveller& traveller);
  void proceed(const Traveller& traveller, Journey::Next next);
  void on_outcome(const Traveller& traveller, const Address& at, redis::Outcome outcome);
  void on_error(const Traveller& traveller, const Address& at, std::string_view error);
  void release_parked(bool due_only);
  void fail_parked(const Failed& why);
  void expire_parked();
  void on_timer();

  void look();
  void want(Discovery::Why why);
  void ask_for_layout(const Address& node);
  void on_layout_answer(const Address& from, redis::Outcome outcome);
  void on_no_layout(const Address& from, Failed why);
  void check_format();
  void on_format(redis::Outcome outcome);
  void beat();
  void on_map_changed(bool primary_replaced);
  void tell_doubt();
  void arm();               // for whatever comes first
  void arm_at(Instant at);  // not later than this

  EventLoop& loop_;
  std::shared_ptr<const Settings> settings_;
  SlotMap map_{};
  Discovery discovery_;
  Pulse pulse_{};
  std::map<Address, std::shared_ptr<Node>> nodes_{};
  std::shared_ptr<Node> answering_{};  // whose answer a handler is looking at
  std::vector<Traveller> parked_{};
  std::optional<Failed> last_failure_{};  // of this look
  Format format_ = Format::unknown;
  std::optional<Failed> refused_{};  // nothing may be sent: the layout of the keys is newer
  UniqueFunction<void()> doubt_{};
  std::map<Address, Instant> told_{};  // when the hub was told last of a node
  bool doubt_posted_ = false;
  std::size_t next_node_ = 0;
  Runtime::TimerId timer_ = 0;
  Instant timer_at_ = Instant::max();
  bool closed_ = false;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // gone: a handler destroyed us
};

}  // namespace holdfast::cluster
