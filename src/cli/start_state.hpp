// What this process was started with, so that the command gets exactly that: signal mask, ignored
// signals, descriptors. Single-threaded use, before any thread exists.
#pragma once

#include <csignal>
#include <vector>

namespace holdfast::cli {

// Signals that `run` takes for the command instead of dying from them.
struct SignalPlan {
  sigset_t started_mask{};  // as this process was started
  sigset_t taken{};         // blocked here and read through a signalfd
};

// Blocks what the wrapper handles. Signals that were ignored at the start stay ignored and are not
// taken: under nohup, HUP must reach neither us nor the command.
SignalPlan take_signals();

// Blocks every signal: the supervisor is told what to do over its pipe and dies only by KILL.
void block_all_signals() noexcept;

// Descriptors 0-2 that were closed at the start become /dev/null here (closed again by exec), so
// that no file of ours gets a number that a message or the command could mistake for its own.
void fill_standard_descriptors() noexcept;

// Open descriptors above 2. Empty if /proc cannot be read.
std::vector<int> open_descriptors();

// Points 0 and 1 to /dev/null and closes `inherited`: the command has its own copies, and a reader
// at the other end must see their end when the command closes them.
void drop_inherited_descriptors(const std::vector<int>& inherited) noexcept;

}  // namespace holdfast::cli
