// A store between the client and a real one, whose network a test can spoil: what a fault proxy is
// to a server, for stores without one (memory, SQLite). Not for Redis: there the proxy is truer.
//
//   auto network = std::make_shared<Network>();
//   Client client{make_faulty_factory(make_memory_factory("x"), network), make_host()};
//   network->fault = Fault::blackhole;
#pragma once

#include <holdfast/store.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

namespace holdfast::chaos {

enum class Fault : std::uint8_t {
  pass,
  refuse,     // nothing is sent; store_unavailable at once
  blackhole,  // nothing arrives; outcome_unknown after op_timeout
  swallow,    // requests are executed, their answers are lost
};

// Shared by all stores of a factory. Thread-safe.
class Network {
 public:
  std::atomic<Fault> fault{Fault::pass};
  std::atomic<std::chrono::milliseconds> delay{};  // of answers

  // All connections break: what was not answered fails now, and the listeners hear a Doubt.
  void reset();

  class Connection {
   public:
    Connection() = default;
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    virtual ~Connection() = default;
    virtual void post_reset() = 0;  // from any thread
  };
  void add(Connection* connection);
  void remove(Connection* connection);

 private:
  std::mutex mutex_{};
  std::vector<Connection*> connections_{};
};

std::shared_ptr<StoreFactory> make_faulty_factory(std::shared_ptr<StoreFactory> inner,
                                                  std::shared_ptr<Network> network);

}  // namespace holdfast::chaos
