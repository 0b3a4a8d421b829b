// How people and scripts are told who holds or waits for a name.
#pragma once

#include <holdfast/claim.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace holdfast::cli {

// "web1, pid 4242 (nightly run)"
std::string who_text(const Who& who);

// "", "shared", "2 of 5 permits"
std::string way_text(Mode mode, std::uint32_t permits, std::uint32_t limit);

// Whoever may write to the store has written this, not only holdfast: it must neither steer a
// terminal nor be something that JSON cannot say.
std::string plain_text(std::string text);

// "held by web1, pid 4242 (nightly run) for 3m2s", and the way if it is not exclusive
std::string held_text(const Holder& holder);

// Times in seconds, fences as numbers.
nlohmann::ordered_json to_json(const Holder& holder);
nlohmann::ordered_json to_json(const Waiter& waiter);
nlohmann::ordered_json to_json(const NameView& view);

}  // namespace holdfast::cli
