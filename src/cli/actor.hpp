// A process on the stage of a demo: forked from this one, with a link to it for messages.
#pragma once

#include "cli/descriptor.hpp"

#include <cerrno>
#include <functional>
#include <optional>
#include <stdexcept>

#include <sys/socket.h>
#include <sys/types.h>

namespace holdfast::cli {

struct Actor {
  pid_t pid = 0;
  Descriptor link{};  // messages are kept whole; the end of the other side is the end of it
};

// Forks a process that runs `part` with its end of the link and ends. It dies with this process.
// Precondition: one thread.
Actor launch_actor(const std::function<void(Descriptor)>& part);

// Messages are plain values, the same on both sides. nullopt: the other side is gone.
template <class Message>
std::optional<Message> receive_from(const Descriptor& link) {
  Message message{};
  ssize_t size = 0;
  do {
    size = recv(link.get(), &message, sizeof message, 0);
  } while (size < 0 && errno == EINTR);
  return size == sizeof message ? std::optional{message} : std::nullopt;
}
// For actors, which play no part without a stage: throws std::runtime_error when it is gone.
template <class Cue>
Cue next_cue(const Descriptor& stage) {
  const auto cue = receive_from<Cue>(stage);
  if (!cue) {
    throw std::runtime_error{"the stage is gone"};
  }
  return *cue;
}
template <class Cue>
void wait_for_cue(const Descriptor& stage, Cue cue) {
  while (next_cue<Cue>(stage) != cue) {
  }
}
template <class Message>
void send_to(const Descriptor& link, const Message& message) {
  send(link.get(), &message, sizeof message, MSG_NOSIGNAL);
}

}  // namespace holdfast::cli
