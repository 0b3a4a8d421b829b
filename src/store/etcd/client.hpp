// The gRPC side of one client of etcd: a channel for each endpoint, and one thread that takes what
// is complete and hands it to the calls. gRPC starts with it, so it must not be made before a fork
// that goes on working.
#pragma once

#include "store/etcd/settings.hpp"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace holdfast::etcd {

// One operation under way on the completion queue, one step at a time.
class Tag {
 public:
  Tag() = default;
  Tag(const Tag&) = delete;
  Tag& operator=(const Tag&) = delete;
  virtual ~Tag() = default;

  virtual void proceed(bool ok) = 0;  // on the client's thread
};

class Ears;

class Client {
 public:
  explicit Client(const Settings& settings);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();  // waits for the calls, which must have been cancelled

  grpc::CompletionQueue& queue() noexcept { return queue_; }
  const std::shared_ptr<grpc::Channel>& channel(std::size_t endpoint) const {
    return channels_.at(endpoint);
  }
  std::size_t endpoint_count() const noexcept { return channels_.size(); }

  const std::shared_ptr<Ears>& ears() const noexcept { return ears_; }
  void began() noexcept { ++under_way_; }  // thread-safe, as is ended()
  void ended() noexcept;

 private:
  void run();

  const unsigned generation_;
  grpc::CompletionQueue queue_{};
  std::vector<std::shared_ptr<grpc::Channel>> channels_{};
  std::atomic<int> under_way_{0};
  std::shared_ptr<Ears> ears_;
  std::thread thread_{};
};

}  // namespace holdfast::etcd
