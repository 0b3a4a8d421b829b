// Serves a Site over HTTP on the loopback address.
//
//   Server server{site, 0};
//   std::cout << server.url();  // "http://localhost:41234/"
//   server.run();               // until stop()
#pragma once

#include "lab/site.hpp"

#include <memory>
#include <string>

namespace holdfast::lab {

class Server {
 public:
  // Listens at once; port 0: any that is free. `site` must outlive it. Throws Error if the port
  // cannot be had.
  Server(const Site& site, int port);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const noexcept { return port_; }
  std::string url() const { return "http://localhost:" + std::to_string(port_) + "/"; }

  void run();   // serves until stop()
  void stop();  // from any thread, once run() was called or is about to be

 private:
  struct Http;  // keeps the library out of this header
  std::unique_ptr<Http> http_;
  int port_ = 0;
};

}  // namespace holdfast::lab
