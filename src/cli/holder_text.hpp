// How people and scripts are told who holds or waits for a name.
#pragma once

#include <holdfast/claim.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace holdfast::cli {

// "web1, pid 4242 (nightly run)"
std::string who_text(const Who& who);

// "held by web1, pid 4242 (nightly run) for 3m2s"
std::string held_text(const Holder& holder);

// Times in seconds, fences as numbers.
nlohmann::ordered_json to_json(const Holder& holder);
nlohmann::ordered_json to_json(const Waiter& waiter);
nlohmann::ordered_json to_json(const NameView& view);

}  // namespace holdfast::cli
