// The descendants of a process, and ways to end them from which none escapes by forking.
//
// Not for trees whose root is not ours: a pid is only safe to signal while its ancestors are known
// to be alive or reaped by us.
#pragma once

#include <set>
#include <vector>

#include <sys/types.h>

namespace holdfast::cli {

// All living descendants of `root` (not `root` itself), parents before their children. Empty if
// /proc is missing or shows another pid namespace than ours (then its numbers mean strangers).
// Processes in `spared` are left out, and so is everything below them.
std::vector<pid_t> descendants_of(pid_t root, const std::set<pid_t>& spared = {});

// TERM, then CONT so that stopped ones can act on it, to every descendant of `root` and to `main`
// (0: none), which is reached even where /proc cannot be read.
void stop_tree(pid_t root, pid_t main);

// STOP for every descendant until no new one appears (a stopped process cannot fork), then KILL for
// all of them. The caller looks again until none is left: a process in an uninterruptible sleep
// takes its time.
void kill_tree(pid_t root, pid_t main, const std::set<pid_t>& spared = {});

}  // namespace holdfast::cli
