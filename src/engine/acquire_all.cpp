#include <holdfast/acquire_all.hpp>

#include "engine/client_core.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

namespace holdfast {

namespace detail {

// Whatever is lost first stops the whole group.
struct GroupState {
  struct Request {
    std::stop_source source;
    void operator()() noexcept { source.request_stop(); }
  };

  GroupState(std::shared_ptr<ClientCore> the_core, std::vector<Lease> the_leases)
      : core(std::move(the_core)), leases(std::move(the_leases)) {
    for (const Lease& lease : leases) {
      on_lost.emplace_back(lease.lost(), Request{lost});
    }
  }

  std::shared_ptr<ClientCore> core;
  std::vector<Lease> leases;
  std::stop_source lost{};
  std::deque<std::stop_callback<Request>> on_lost{};  // it can be neither copied nor moved
};

}  // namespace detail

LeaseGroup::LeaseGroup() noexcept = default;
LeaseGroup::LeaseGroup(std::unique_ptr<detail::GroupState> state) noexcept
    : state_(std::move(state)) {}
LeaseGroup::LeaseGroup(LeaseGroup&& other) noexcept = default;

LeaseGroup& LeaseGroup::operator=(LeaseGroup&& other) noexcept {
  if (this != &other) {
    std::error_code ignored;
    release(ignored);
    state_ = std::move(other.state_);
  }
  return *this;
}

LeaseGroup::~LeaseGroup() {
  std::error_code ignored;
  release(ignored);
}

LeaseGroup::operator bool() const noexcept { return state_ != nullptr; }

std::span<const Lease> LeaseGroup::leases() const noexcept {
  return state_ ? std::span<const Lease>{state_->leases} : std::span<const Lease>{};
}

bool LeaseGroup::valid() const noexcept {
  return state_ && std::ranges::all_of(state_->leases, &Lease::valid);
}

Instant LeaseGroup::trusted_until() const noexcept {
  const auto all = leases();
  return std::accumulate(
      all.begin(), all.end(), all.empty() ? Instant{} : Instant::max(),
      [](Instant first, const Lease& lease) { return std::min(first, lease.trusted_until()); });
}

std::stop_token LeaseGroup::lost() const noexcept {
  return state_ ? state_->lost.get_token() : std::stop_token{};
}

std::error_code LeaseGroup::why_lost() const noexcept {
  for (const Lease& lease : leases()) {
    if (const std::error_code why = lease.why_lost()) {
      return why;
    }
  }
  return {};
}

void LeaseGroup::release() {
  std::error_code code;
  release(code);
  if (code) {
    throw Error{code, {}};
  }
}

void LeaseGroup::release(std::error_code& ec) noexcept {
  ec.clear();
  if (const auto state = std::exchange(state_, {})) {
    state->on_lost.clear();
    // Waiters wait for the first of the names that is busy, in their order: free that one last.
    std::ranges::sort(state->leases,
                      [](const Lease& a, const Lease& b) { return a.name() > b.name(); });
    ec = state->core->release_all(std::move(state->leases));
  }
}

namespace {

std::vector<detail::Ask> asks_of(const std::vector<std::string>& names,
                                 const LeaseOptions& options) {
  if (names.empty() || names.size() > names_at_once_max) {
    throw Error{errc::invalid_options, "there are " + std::to_string(names.size()) +
                                           " names; 1 to 100 can be taken at once"};
  }
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    throw Error{errc::invalid_options, "the name \"" + *twice + "\" is given twice"};
  }
  std::vector<detail::Ask> asks;
  for (const std::string& name : names) {
    asks.push_back({.name = name, .options = options});
  }
  return asks;
}

}  // namespace

LeaseGroup acquire_all(Client& client, const std::vector<std::string>& names,
                       const LeaseOptions& options, const Wait& wait) {
  const auto& core = client.core();
  auto outcome = core->acquire_all(asks_of(names, options), wait);
  if (outcome.code) {
    throw Error{outcome.code, outcome.detail};
  }
  return LeaseGroup{std::make_unique<detail::GroupState>(core, std::move(outcome.leases))};
}

LeaseGroup acquire_all(Client& client, const std::vector<std::string>& names,
                       const LeaseOptions& options, const Wait& wait, std::error_code& ec) try {
  ec.clear();
  return acquire_all(client, names, options, wait);
} catch (const Error& error) {
  ec = error.code();
  return {};
}

}  // namespace holdfast
