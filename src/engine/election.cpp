#include <holdfast/election.hpp>

#include "engine/client_core.hpp"
#include "engine/outcome.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace holdfast {

// ---- Leadership --------------------------------------------------------------------------------

Leadership::Leadership(std::shared_ptr<detail::ClientCore> core, Lease lease) noexcept
    : core_(std::move(core)), lease_(std::move(lease)) {}

void Leadership::proclaim(std::string value) {
  if (!lease_) {
    throw Error{errc::not_owner, "there is no leadership"};
  }
  core_->set_value(lease_, std::move(value));
}

void Leadership::proclaim(std::string value, std::error_code& ec) try {
  ec.clear();
  proclaim(std::move(value));
} catch (const Error& error) {
  ec = error.code();
}

// ---- Election ----------------------------------------------------------------------------------

Election::Election(Client& client, std::string name, LeaseOptions options)
    : core_(client.core()), name_(std::move(name)), options_(std::move(options)) {
  detail::require_valid(name_, options_);
  if (!core_->capabilities().values) {
    throw Error{errc::unsupported, "this store keeps no value beside a lease"};
  }
}

Leadership Election::campaign(std::string value, const Wait& wait) {
  const detail::Ask ask{.name = name_, .options = options_, .value = std::move(value)};
  return {core_, detail::granted(core_->acquire(ask, wait))};
}

Leadership Election::campaign(std::string value, const Wait& wait, std::error_code& ec) {
  const detail::Ask ask{.name = name_, .options = options_, .value = std::move(value)};
  return {core_, detail::granted(core_->acquire(ask, wait), ec)};
}

std::optional<LeaderInfo> Election::leader() {
  auto reply = core_->ask_store<InspectReply>(
      [this](Store& store, auto done) { store.inspect(name_, std::move(done)); });
  if (const auto* failed = std::get_if<Failed>(&reply)) {
    throw Error{failed->code, failed->detail};
  }
  const auto& holders = std::get<NameView>(reply).holders;
  const auto leads = [](const Holder& holder) {
    return holder.mode == Mode::exclusive && !holder.released;
  };
  const auto leader = std::ranges::find_if(holders, leads);
  return leader == holders.end() ? std::nullopt
                                 : std::optional{LeaderInfo{leader->value, leader->fence}};
}

void Election::observe(const std::stop_token& stop,
                       UniqueFunction<void(const std::optional<LeaderInfo>&)> on_change) {
  std::optional<std::optional<LeaderInfo>> told;
  std::mutex mutex;
  std::condition_variable_any pause;
  while (!stop.stop_requested()) {
    try {
      const std::optional<LeaderInfo> now = leader();
      if (!told || *told != now) {
        told = now;
        on_change(now);
      }
    } catch (const Error& error) {
      if (!(error.code() == failure::transient)) {
        throw;
      }
    }
    std::unique_lock lock{mutex};
    pause.wait_for(lock, stop, observed_every, [] { return false; });
  }
}

}  // namespace holdfast
