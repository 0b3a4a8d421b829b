#include "sim/database.hpp"

#include "base/mutation.hpp"

namespace holdfast::sim {

void Database::write(const Write& write, Answered answered) {
  network_.send(place_of_node(write.node), Place::database, 0,
                [this, write, answered = std::move(answered)] { land(write, answered); });
}

void Database::land(const Write& write, const Answered& answered) {
  const auto wrote = [&](const std::string& resource, bool guarded, bool landed) {
    history_.record(
        Wrote{write.node, resource, write.owner, write.fence, guarded, landed, write.floor});
  };
  wrote(write.name + "/plain", false, true);
  const std::string resource = write.name + "/guarded";
  std::error_code code;
  guard_.admit(resource, write.name, write.fence, write.floor, code);
  const bool stale = static_cast<bool>(code) && !mutated(Mutation::guard_admits_all);
  wrote(resource, true, !stale);
  network_.send(Place::database, place_of_node(write.node), 0,
                [answered, stale] { answered(stale); });
}

}  // namespace holdfast::sim
