#include "tests/chaos/proxied_link.hpp"

namespace holdfast::chaos {

void ProxiedLink::fault(Fault fault) {
  using Mode = test::FaultProxy::Mode;
  switch (fault) {
    case Fault::pass:
      proxy_.set(Mode::pass);
      break;
    case Fault::refuse:
      proxy_.set(Mode::refuse);
      break;
    case Fault::blackhole:
      proxy_.set(Mode::blackhole);
      break;
    case Fault::swallow:
      proxy_.set(Mode::swallow_replies);
      break;
  }
}

}  // namespace holdfast::chaos
