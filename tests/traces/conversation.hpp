// A conversation between the real Engine, a scripted store and a clock moved by hand, told in text.
// A block is one command, `----`, and what the engine did because of it:
//
//   wait A ttl=30s
//   ----
//   +0ms     store < acquire A, queue
//
//   reply queued fence=4
//   ----
//   +0ms     observer: A waits behind fence 4
//
// Commands:
//   wait A [ttl=30s] [timeout=5s] [renew=no] [max_hold=…]   A name is an owner; the lock is one
//   try A [ttl=…]                                            a wait of zero
//   reply granted|queued|busy|renewed|taken|broken|released|not_owner [fence=…] [ttl=…] [left=…]
//   reply unavailable|unknown|denied to=acquire|renew|withdraw   answers the oldest request
//   all AB [timeout=5s]   the locks A and B, all or none, as owners A and B; later ones are Q, R, …
//   all_reply granted|busy|unavailable|unknown [which=0] [fence=…]   answers the oldest of these
//   cancel_all
//   tell handed_off|maybe_free|broken A [fence=…]    tell doubt
//   after 5s          moves the clock; everything due happens on the way
//   stopped 5s        the process was stopped for that long
//   cancel A    release A    stale A    close
#pragma once

#include "engine/engine.hpp"
#include "tests/support/manual_runtime.hpp"
#include "tests/support/scripted_store.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace holdfast::traces {

// One line of a conversation, taken apart.
struct Command {
  std::string verb{};
  std::vector<std::string> words{};
  std::map<std::string, std::string> options{};

  static Command parse(const std::string& line);
  std::string word(std::size_t index) const;
  Duration duration(const std::string& key, Duration otherwise) const;
  Fence fence() const;
};

class Conversation final : public detail::EngineSink {
 public:
  Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  ~Conversation() override;

  // Runs one command and returns what happened, a line each. Throws std::runtime_error if it makes
  // no sense.
  std::string run(const std::string& command);

 private:
  void on_event(Event event) override;
  void on_lost(const std::shared_ptr<detail::LeaseState>& lease) override;

  void wait(const Command& command, std::optional<Duration> timeout);
  void wait_for_all(const Command& command);
  void reply_to_all(const Command& command);
  void all_ended(const AcquireAllMachine& machine);
  void reply(const Command& command);
  void reply_failed(const Command& command, errc code, bool may_have_had_effect);
  void tell(const Command& command);
  void release(const std::string& owner);
  void ended(const AcquireMachine& machine, const LeaseOptions& options);
  void asked(const test::ScriptedStore::Asked& request);
  void line(const std::string& text);

  OwnerId owner_of(const std::string& name) const;
  std::string name_of(const OwnerId& owner) const;
  std::string instant(Instant when) const;

  test::ManualRuntime runtime_{};
  Instant start_ = runtime_.now();
  test::ScriptedStore* store_ = nullptr;  // the engine's
  std::optional<detail::Engine> engine_{};
  std::map<std::string, std::shared_ptr<detail::LeaseState>> leases_{};
  char next_owner_ = 'Q';
  std::string happened_{};
};

}  // namespace holdfast::traces
