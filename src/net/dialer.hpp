// Connects to the first of several addresses that answers. The next is tried when one fails, or
// stays silent for 250 ms (the idea of RFC 8305, "happy eyeballs", without its sorting).
#pragma once

#include "net/resolver.hpp"

#include "runtime/descriptor.hpp"

namespace holdfast::net {

// Destroying it gives all tries up; `done` is destroyed uncalled.
class Dialer {
 public:
  using Done = UniqueFunction<void(const StreamError&, std::unique_ptr<Descriptor>)>;

  // `done` is called once on the loop, never from inside this call. `place` is for messages.
  Dialer(EventLoop& loop, Addresses addresses, std::string place, Done done);
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;
  ~Dialer();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holdfast::net
