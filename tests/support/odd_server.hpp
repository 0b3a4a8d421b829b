// A TCP server on the loopback that says the same to everything, right or wrong.
//
//   OddServer server{"-LOADING Redis is loading the dataset in memory\r\n"};
//   open_store(server.url());
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace holdfast::test {

// Answers everything that arrives with the same bytes, right or wrong. Empty: hangs up instead.
class OddServer {
 public:
  explicit OddServer(std::string answer) : answer_(std::move(answer)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener_, 16);
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& stop) { serve(stop); }};
  }
  OddServer(const OddServer&) = delete;
  OddServer& operator=(const OddServer&) = delete;
  ~OddServer() {
    thread_.request_stop();
    thread_.join();
    close(listener_);
  }
  std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }

 private:
  void serve(const std::stop_token& stop) {
    std::vector<pollfd> waits{{listener_, POLLIN, 0}};
    while (!stop.stop_requested()) {
      poll(waits.data(), waits.size(), 20);
      for (std::size_t i = 1; i < waits.size(); ++i) {
        if (waits[i].revents != 0 && !answer(waits[i].fd)) {
          close(waits[i].fd);
          waits[i].fd = -1;
        }
      }
      if ((waits[0].revents & POLLIN) != 0) {
        waits.push_back({accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), POLLIN, 0});
      }
    }
    for (std::size_t i = 1; i < waits.size(); ++i) {
      close(waits[i].fd);
    }
  }
  bool answer(int connection) const {
    std::array<char, 65536> buffer{};
    return recv(connection, buffer.data(), buffer.size(), 0) > 0 && !answer_.empty() &&
           send(connection, answer_.data(), answer_.size(), MSG_NOSIGNAL) > 0;
  }

  std::string answer_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::jthread thread_{};
};

}  // namespace holdfast::test
