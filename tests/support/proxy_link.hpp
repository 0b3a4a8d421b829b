// One connection through the fault proxy: two sockets and what is on its way between them. Part of
// FaultProxy; tests use that.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace holdfast::test {

struct ProxyCounts {  // written by the proxy's thread, read by the test's
  std::atomic<std::uint64_t> to_server{0};
  std::atomic<std::uint64_t> to_client{0};
  std::atomic<std::uint64_t> swallowed{0};
  std::atomic<bool> open{true};
};

class ProxyLink {
 public:
  struct Ways {
    bool requests = true;  // flow at all
    bool replies = true;
    bool swallow = false;                // replies are read and dropped
    std::chrono::milliseconds delay{0};  // of replies
  };

  ProxyLink(int client, ProxyCounts& counts);  // takes `client` over; no server yet
  ProxyLink(const ProxyLink&) = delete;
  ProxyLink& operator=(const ProxyLink&) = delete;
  ~ProxyLink() { close(); }

  void connect(const sockaddr* server, socklen_t size);  // a refused one resets the client
  void add_to(std::vector<pollfd>& polled, std::chrono::milliseconds& patience, Ways ways) const;
  void step(Ways ways);  // moves what can be moved now
  void reset();          // both sides see ECONNRESET
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  struct Chunk {
    std::string bytes{};
    Clock::time_point due{};
  };
  struct Way {
    std::deque<Chunk> chunks{};
    bool ended = false;      // the sender will send no more
    bool shut_down = false;  // and the receiver was told
  };

  bool receive(int from, Way& way, bool swallow, std::chrono::milliseconds delay);
  bool send(int to, Way& way, std::atomic<std::uint64_t>& count);

  int client_;
  int server_ = -1;
  Way up_{};
  Way down_{};
  ProxyCounts& counts_;
};

}  // namespace holdfast::test
