// `holdfast demo split-brain`: the primary of a Redis freezes, Sentinel promotes its replica, and
// two clients hold one lock. What each setting does about it, on real servers.
#pragma once

namespace holdfast::cli {

// Tells a timeline, or one JSON object. Returns an exit code: 0 only if what it says happened.
int play_split_brain(bool json);

}  // namespace holdfast::cli
