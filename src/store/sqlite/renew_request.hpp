// A renewal of any number of claims, in transactions of bounded size.
#pragma once

#include "store/sqlite/request_queue.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace holdfast::sqlite {

class RenewRequest final : public Request {
 public:
  using Step = UniqueFunction<std::vector<RenewReply>(std::span<const Claim>)>;

  RenewRequest(std::vector<Claim> claims, Step step,
               UniqueFunction<void(std::vector<RenewReply>)> done)
      : claims_(std::move(claims)), step_(std::move(step)), done_(std::move(done)) {}

  // Goes on after the batches that were committed before it met a busy file.
  void attempt() override {
    while (replies_.size() < claims_.size()) {
      const std::size_t size = std::min(batch_max, claims_.size() - replies_.size());
      auto batch = step_(std::span(claims_).subspan(replies_.size(), size));
      std::ranges::move(batch, std::back_inserter(replies_));
    }
  }
  void fail(Failed failure) override { replies_.resize(claims_.size(), RenewReply{failure}); }
  void deliver() override { done_(std::move(replies_)); }

 private:
  // So many take about a millisecond: no other process waits noticeably for the write lock.
  static constexpr std::size_t batch_max = 128;

  std::vector<Claim> claims_;
  Step step_;
  UniqueFunction<void(std::vector<RenewReply>)> done_;
  std::vector<RenewReply> replies_{};
};

}  // namespace holdfast::sqlite
