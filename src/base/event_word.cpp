#include <holdfast/observer.hpp>

namespace holdfast {

const char* event_word(Event::Kind kind) noexcept {
  switch (kind) {
    case Event::Kind::waiting:
      return "waiting";
    case Event::Kind::granted:
      return "granted";
    case Event::Kind::not_granted:
      return "not_granted";
    case Event::Kind::renewed:
      return "renewed";
    case Event::Kind::renewal_failed:
      return "renewal_failed";
    case Event::Kind::lost:
      return "lost";
    case Event::Kind::released:
      return "released";
  }
  return "unknown";
}

}  // namespace holdfast
