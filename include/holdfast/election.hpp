// holdfast/election.hpp: one leader at a time, and everybody can see who.
//
//   Election election{client, "scheduler", {.ttl = 10s}};
//   Leadership mine = election.campaign("10.0.0.7:8080");   // blocks until elected
//   while (!mine.lost().stop_requested()) { lead(mine.term()); }
//
//   election.observe(stop, [](const auto& leader) { … });   // on a thread of the caller's
//
// When not: to spread work over all instances, claim rows of a queue instead (holdfast/guard.hpp);
// to agree on data, use a database.
#pragma once

#include <holdfast/client.hpp>
#include <holdfast/function.hpp>
#include <holdfast/lease.hpp>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>

namespace holdfast {

struct LeaderInfo {
  std::string value{};       // what the leader says of itself, e.g. its address
  Fence term = Fence::none;  // rises with each election
  bool operator==(const LeaderInfo&) const = default;
};

// A lease whose fence is the term. Move-only; destroying it resigns, bounded by 2 s. lease(),
// lost() and term() may be called from any thread; the rest by one thread at a time.
class [[nodiscard]] Leadership {
 public:
  Leadership() noexcept = default;
  Leadership(std::shared_ptr<detail::ClientCore> core, Lease lease) noexcept;  // for the engine

  explicit operator bool() const noexcept { return static_cast<bool>(lease_); }
  const Lease& lease() const noexcept { return lease_; }
  Fence term() const noexcept { return lease_.fence(); }
  // Stop is requested when the leadership is lost: another leader may be at work from then on.
  std::stop_token lost() const noexcept { return lease_.lost(); }

  // Changes what observers see, without a new election. At most value_size_max bytes. Throws Error:
  // the reason of a loss; outcome_unknown (it may be the new value or the old one: try again).
  void proclaim(std::string value);
  void proclaim(std::string value, std::error_code& ec);

  // Gives the leadership back: the next in line leads. Errors as those of Lease::release().
  void resign() { lease_.release(); }
  void resign(std::error_code& ec) noexcept { lease_.release(ec); }

  // The lease alone, for those who keep it in another way. Nothing is left to resign then.
  Lease take_lease() && noexcept { return std::move(lease_); }

 private:
  std::shared_ptr<detail::ClientCore> core_{};
  Lease lease_{};
};

// The leader is the holder of the lock `name`: one at a time while leases are trusted, in the order
// of campaigning. Thread-safe.
class Election {
 public:
  // How old what observe() tells can be while the store answers.
  static constexpr Duration observed_every = std::chrono::milliseconds{500};

  // Throws Error{invalid_name, invalid_options}, or unsupported if the store keeps no values.
  Election(Client& client, std::string name, LeaseOptions options = {});

  const std::string& name() const noexcept { return name_; }

  // Waits in line until elected. Throws Error as Mutex::acquire() does. With `ec` the leadership is
  // empty then.
  Leadership campaign(std::string value, const Wait& wait = {});
  Leadership campaign(std::string value, const Wait& wait, std::error_code& ec);

  // Who leads, as the store says now; nullopt: nobody does. A leader that was stopped or cut off is
  // told until its lease ends. Throws Error if the store does not answer.
  std::optional<LeaderInfo> leader();

  // Calls back with the leader now and after each change of value or term, on the calling thread,
  // until `stop` is requested. Looks twice a second: the latest state wins, what came and went in
  // between, or while the callback ran, is never told. A store that cannot be reached is tried on;
  // throws Error if it refuses for good (failure::permanent), or what the callback throws.
  void observe(const std::stop_token& stop,
               UniqueFunction<void(const std::optional<LeaderInfo>&)> on_change);

 private:
  std::shared_ptr<detail::ClientCore> core_;
  std::string name_;
  LeaseOptions options_;
};

}  // namespace holdfast
