// Finds the primary by asking the sentinels, and follows it by listening to them. The decisions are
// those of PrimarySearch.
//
// News of a switch comes when a failover is over; the replica that is being made the primary takes
// writes a second or more before that. So the one that the sentinels selected is asked for its role
// until it says that it is a primary: a holder hears of a lost lock that much earlier.
#pragma once

#include "store/redis/connection.hpp"
#include "store/redis/locator.hpp"
#include "store/redis/primary_place.hpp"
#include "store/redis/primary_search.hpp"
#include "store/redis/retry_delay.hpp"
#include "store/redis/sentinel_line.hpp"
#include "store/redis/sentinel_settings.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace holdfast {
class EventLoop;
}

namespace holdfast::redis {

class SentinelLocator final : public Locator {
 public:
  // `login`: of the primary, for asking a replica's role. Must outlive it, as must `settings`.
  SentinelLocator(EventLoop& loop, const SentinelSettings& settings,
                  const Connection::Options& login, std::shared_ptr<PrimaryPlace> place);
  ~SentinelLocator() override;

  void locate(bool anew, UniqueFunction<void(Found)> done) override;
  std::uint64_t term() const noexcept override { return place_->term(); }
  void watch(UniqueFunction<void()> moved) override;
  std::vector<Finding> findings() const override;
  void close() noexcept override;

 private:
  struct Ear {  // a subscription at one sentinel
    std::shared_ptr<SentinelLine> line{};
    RetryDelay retry{};
    Runtime::TimerId timer = 0;
  };

  std::shared_ptr<SentinelLine> ask(const net::Endpoint& sentinel, std::string commands,
                                    bool listens, SentinelLine::Handler handler);
  void search();
  void ask_where(std::size_t sentinel);
  void look_at_search();
  void finish_search(PrimarySearch::Result result);

  void listen_to(std::size_t sentinel);
  void on_heard(std::size_t sentinel, const Reply& reply);
  void on_deaf(std::size_t sentinel);

  void watch_candidate(const Address& address);
  void ask_role();
  bool is_behind(const SentinelWord& word) const;
  void move_to(const Address& address);

  EventLoop& loop_;
  const SentinelSettings& settings_;
  const Connection::Options& login_;
  std::shared_ptr<PrimaryPlace> place_;
  UniqueFunction<void()> moved_{};

  std::optional<PrimarySearch> search_{};
  std::vector<std::shared_ptr<SentinelLine>> lines_{};  // of the search
  Runtime::TimerId search_timer_ = 0;
  std::vector<UniqueFunction<void(Found)>> waiting_{};
  std::optional<SentinelWord> last_word_{};

  std::vector<Ear> ears_{};

  std::optional<Address> candidate_{};
  Instant candidate_until_{};
  Instant promoted_until_{};  // till then an older word than that of the failover does not count
  std::shared_ptr<SentinelLine> role_line_{};
  Runtime::TimerId role_timer_ = 0;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace holdfast::redis
