// holdfast/run.hpp: run a function under a lock, or once only.
//
//   run_exclusive(mutex, [&](std::stop_token stop, Fence fence) { rebuild(stop, fence); });
//
//   const Once once{.job = "nightly-report", .run_id = "2026-11-30"};
//   switch (run_once(client, once, [](const Lease& lease) { report(lease.fence()); })) {
//     case OnceResult::ran: …  case OnceResult::already_done: …
//   }
//
// When not: to make single writes happen once, take an idempotency key in the transaction of the
// write (the once guard of holdfast/guard.hpp): only that covers a runner that dies after its
// effects and before its mark.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/operation.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

namespace holdfast {

// What can be run under a lease: work(stop, fence) or work(lease). Stop is requested when the lease
// is lost, or when the caller's own wait.stop is; work must then end soon, for it may be running
// elsewhere already. Work that returns has done its part; work that has not, throws.
template <class Work>
concept LeaseWork =
    std::invocable<Work, std::stop_token, Fence> || std::invocable<Work, const Lease&>;

// What run_exclusive() can hold: Mutex, and others whose acquire(wait) gives a Lease.
template <class Lock>
concept LeaseLock = requires(Lock& lock, const Wait& wait) {
  { lock.acquire(wait) } -> std::same_as<Lease>;
};

namespace detail {

// Requested as soon as one of the two is.
class EitherStop {
 public:
  EitherStop(std::stop_token one, std::stop_token other)
      : on_one_(std::move(one), Request{source_}), on_other_(std::move(other), Request{source_}) {}
  std::stop_token token() const noexcept { return source_.get_token(); }

 private:
  struct Request {
    std::stop_source source;
    void operator()() const noexcept { std::stop_source{source}.request_stop(); }
  };
  std::stop_source source_{};
  std::stop_callback<Request> on_one_;
  std::stop_callback<Request> on_other_;
};

template <LeaseWork Work>
decltype(auto) run_under(const Lease& lease, const std::stop_token& stop, Work&& work) {
  if constexpr (std::invocable<Work, std::stop_token, Fence>) {
    const EitherStop either{lease.lost(), stop};
    return std::invoke(std::forward<Work>(work), either.token(), lease.fence());
  } else {
    return std::invoke(std::forward<Work>(work), lease);
  }
}

// Throws Error with the reason if the lease was not held to this moment; else gives it back.
void end_exclusive(Lease lease);

}  // namespace detail

// Runs work while holding `lock`, and returns what it returns. That it returns means that the lease
// was held from start to end: if it was lost meanwhile, Error with the reason of the loss is thrown
// (failure::ownership_lost) although the work may have ended well. What work throws passes through,
// after the release. Else throws as acquire() does. Blocks.
template <LeaseLock Lock, LeaseWork Work>
auto run_exclusive(Lock& lock, Work&& work, const Wait& wait = {}) {
  Lease lease = lock.acquire(wait);
  using Result = decltype(detail::run_under(lease, wait.stop, std::forward<Work>(work)));
  if constexpr (std::is_void_v<Result>) {
    detail::run_under(lease, wait.stop, std::forward<Work>(work));
    detail::end_exclusive(std::move(lease));
  } else {
    std::remove_cvref_t<Result> result =
        detail::run_under(lease, wait.stop, std::forward<Work>(work));
    detail::end_exclusive(std::move(lease));
    return result;
  }
}

// One run of a job, e.g. {"nightly-report", "2026-11-30"}: the job is the name of the lock, so two
// runs of one job are never at work at once, and (job, run_id) is what is marked as done.
struct Once {
  std::string job{};     // a name: see holdfast/claim.hpp
  std::string run_id{};  // 1 to 255 bytes of UTF-8 without control characters; same on every host
  // How long the mark lasts, on the store's clock. Longer than anybody may come late: a host whose
  // clock is two minutes behind comes two minutes late. Above zero, at most 10 years.
  Duration remember = std::chrono::hours{24 * 7};
  LeaseOptions lease{};
};

// A run to do, as a lock: for those who cannot put the work into a function. acquire() and
// start_acquire() as those of Mutex; errc::already_done if it was done before. Thread-safe.
//
// The mark is set in the same step of the store that gives the lease back, so it is never set for
// a run whose lease was lost, and no other runner comes between the two.
class OnceRun {
 public:
  // Throws Error{invalid_name, invalid_options}, or unsupported if the store keeps no such marks.
  OnceRun(Client& client, Once once);

  const Once& once() const noexcept { return once_; }

  Lease acquire(const Wait& wait = {});
  Lease acquire(const Wait& wait, std::error_code& ec);
  Operation start_acquire(const Wait& wait, LeaseHandler handler);

  // The work is done: marks the run and gives the lease back. Blocks until the store has answered,
  // and tries on while it does not, at most until the lease ends (at least 2 s). Errors: the reason
  // if the lease was lost, or not_owner: the run is not marked and will run again.
  // outcome_unknown: no answer came; it may be marked or run again. invalid_options: a lease of
  // something else. A lease that is destroyed in place of this is given back, and the run not done.
  void finish(Lease lease);
  void finish(Lease lease, std::error_code& ec);

 private:
  std::shared_ptr<detail::ClientCore> core_;
  Once once_;
};

enum class OnceResult : std::uint8_t {
  ran,                // by us, just now, and marked as done
  already_done,       // before; work was not called
  running_elsewhere,  // this run or another one of the job, at the end of the wait
};

// Runs work unless this run of the job is marked as done, and marks it. Work that throws has not
// done its run; what it throws passes through. A runner that crashed is taken over when its lease
// ends, so work may have been begun before: make its effects idempotent, by its fence or a once
// guard. Throws Error as OnceRun's acquire() and finish() do. Blocks.
template <LeaseWork Work>
OnceResult run_once(Client& client, const Once& once, Work&& work, const Wait& wait = {}) {
  OnceRun run{client, once};
  Lease lease;
  try {
    lease = run.acquire(wait);
  } catch (const Error& error) {
    if (error.code() == errc::already_done) {
      return OnceResult::already_done;
    }
    if (error.code() == errc::busy || error.code() == errc::timed_out) {
      return OnceResult::running_elsewhere;
    }
    throw;
  }
  detail::run_under(lease, wait.stop, std::forward<Work>(work));
  run.finish(std::move(lease));
  return OnceResult::ran;
}

}  // namespace holdfast
