#include "cli/forwarder.hpp"

#include <array>
#include <csignal>
#include <system_error>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace holdfast::cli {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Descriptor make_socket() {
  Descriptor made{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (made.get() < 0) {
    fail("socket");
  }
  return made;
}

// A pair of sockets; what comes out of one goes into the other.
struct Line {
  Descriptor client{};
  Descriptor server{};
};

class Exchange {
 public:
  Exchange(Descriptor listener, std::uint16_t target, Descriptor stage)
      : listener_(std::move(listener)), target_(target), stage_(std::move(stage)) {}

  // Until the stage is gone.
  void run() {
    for (;;) {
      std::vector<pollfd> waits{{stage_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
      for (const Line& line : lines_) {
        waits.push_back({line.client.get(), POLLIN, 0});
        waits.push_back({line.server.get(), POLLIN, 0});
      }
      poll(waits.data(), waits.size(), -1);
      hand_on(waits);
      if (waits[1].revents != 0) {
        accept_one();
      }
      if (waits[0].revents != 0) {
        const auto target = receive_from<std::uint16_t>(stage_);
        if (!target) {
          return;
        }
        target_ = *target;
        reset_all();
        send_to(stage_, target_);
      }
    }
  }

 private:
  void hand_on(const std::vector<pollfd>& waits) {
    std::vector<Line> open;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      Line& line = lines_[i];
      const bool up = waits[2 + 2 * i].revents == 0 || pump(line.client, line.server);
      const bool down = waits[3 + 2 * i].revents == 0 || pump(line.server, line.client);
      if (up && down) {
        open.push_back(std::move(line));
      }
    }
    lines_ = std::move(open);
  }

  static bool pump(const Descriptor& from, const Descriptor& to) {
    std::array<char, 16'384> bytes{};
    const ssize_t count = recv(from.get(), bytes.data(), bytes.size(), 0);
    for (ssize_t sent = 0; sent < count;) {
      const ssize_t more =
          send(to.get(), bytes.data() + sent, static_cast<std::size_t>(count - sent), MSG_NOSIGNAL);
      if (more <= 0) {
        return false;
      }
      sent += more;
    }
    return count > 0;
  }

  void accept_one() {
    Line line{Descriptor{accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)},
              connect_to_loopback(target_)};
    if (line.client.get() >= 0 && line.server.get() >= 0) {
      lines_.push_back(std::move(line));
    }
  }

  void reset_all() {
    for (const Line& line : lines_) {
      const linger at_once{1, 0};
      setsockopt(line.client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    lines_.clear();
  }

  Descriptor listener_;
  std::uint16_t target_;
  Descriptor stage_;
  std::vector<Line> lines_{};
};

}  // namespace

Descriptor connect_to_loopback(std::uint16_t port) {
  Descriptor made = make_socket();
  const sockaddr_in address = loopback(port);
  if (connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    made.reset();
  }
  return made;
}

Descriptor listen_on_loopback(std::uint16_t& port) {
  Descriptor listener = make_socket();
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener.get(), 64) != 0 ||
      getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    fail("listen");
  }
  port = ntohs(address.sin_port);
  return listener;
}

Forwarder::Forwarder(std::uint16_t port) {
  Descriptor listener = listen_on_loopback(port_);
  actor_ = launch_actor([&](Descriptor stage) {
    Exchange{std::move(listener), port, std::move(stage)}.run();
  });
}

Forwarder::~Forwarder() {
  kill(actor_.pid, SIGKILL);
  waitpid(actor_.pid, nullptr, 0);
}

void Forwarder::switch_to(std::uint16_t port) {
  send_to(actor_.link, port);
  receive_from<std::uint16_t>(actor_.link);  // done: nothing reaches the old server any more
}

}  // namespace holdfast::cli
