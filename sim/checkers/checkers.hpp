// The checkers, by the promise they watch. What each one hears and when it objects is said in its
// file.
#pragma once

#include "sim/checker.hpp"

#include <memory>
#include <vector>

namespace holdfast::sim {

std::unique_ptr<Checker> make_exclusion_checker();
std::unique_ptr<Checker> make_permit_checker();
std::unique_ptr<Checker> make_company_checker();
std::unique_ptr<Checker> make_next_checker();
std::unique_ptr<Checker> make_floor_checker();
std::unique_ptr<Checker> make_run_checker();
std::unique_ptr<Checker> make_value_checker();
std::unique_ptr<Checker> make_group_checker();
std::unique_ptr<Checker> make_window_checker();
std::unique_ptr<Checker> make_fence_checker();
std::unique_ptr<Checker> make_quorum_fence_checker();  // in its place, where a quorum grants
std::unique_ptr<Checker> make_record_checker();
std::unique_ptr<Checker> make_guard_checker();
std::unique_ptr<Checker> make_silence_checker();
// `bound`: how long after a wait ended, in a time without trouble, something of it may be left.
std::unique_ptr<Checker> make_leftover_checker(Duration bound);
std::unique_ptr<Checker> make_order_checker();
// `late`: how much later than asked for a timer of a running node may fire.
std::unique_ptr<Checker> make_loss_checker(Duration late);
// `bound`: after this long without trouble a watchdog must have got through.
std::unique_ptr<Checker> make_needless_loss_checker(Duration bound);
// `bound`: a round trip to the new primary.
std::unique_ptr<Checker> make_told_checker(Duration bound);
std::unique_ptr<Checker> make_deadline_checker(Duration late);
std::unique_ptr<Checker> make_progress_checker();

}  // namespace holdfast::sim
