#include "lab/server.hpp"

#include <holdfast/error.hpp>

#include <httplib.h>

#include <atomic>
#include <thread>
#include <utility>

namespace holdfast::lab {

namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr std::size_t body_max = 4096;  // nothing that is sent here has a body of any size
constexpr std::time_t patience_s = 5;   // with a client that is slow to speak or to listen
constexpr std::size_t threads = 32;     // one for each connection; a browser keeps six

HttpRequest request_of(const httplib::Request& raw) {
  HttpRequest request;
  request.method = raw.method;
  request.path = raw.path;
  request.query.assign(raw.params.begin(), raw.params.end());
  request.host = raw.get_header_value("Host");
  request.origin = raw.get_header_value("Origin");
  request.fetched_by = raw.get_header_value("Sec-Fetch-Site");
  request.from_the_page = raw.has_header(page_header.data());
  return request;
}

void answer(const HttpAnswer& given, httplib::Response& response) {
  response.status = given.status;
  response.set_header("Cache-Control", "no-store");
  if (!given.file_name.empty()) {
    response.set_header("Content-Disposition", "attachment; filename=\"" + given.file_name + "\"");
  }
  response.set_content(given.body, given.type);
}

}  // namespace

struct Server::Http {
  httplib::Server server{};
  std::atomic<bool> over{false};
};

Server::Server(const Site& site, int port) : http_(std::make_unique<Http>()) {
  httplib::Server& server = http_->server;
  server.new_task_queue = [] {
    return std::make_unique<httplib::ThreadPool>(threads).release();  // the library deletes it
  };
  server.set_payload_max_length(body_max);
  server.set_read_timeout(patience_s);
  server.set_write_timeout(patience_s);
  server.set_keep_alive_max_count(100);
  server.set_tcp_nodelay(true);
  // The library's default would let a second lab listen on the same port.
  server.set_socket_options([](int socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
  server.set_default_headers({{"Content-Security-Policy", std::string{content_policy}},
                              {"X-Content-Type-Options", "nosniff"},
                              {"Referrer-Policy", "no-referrer"},
                              {"Cross-Origin-Resource-Policy", "same-origin"}});
  // All is answered here: the library's own routing goes by regular expressions, which are slow and
  // deep for a path that somebody made long on purpose.
  server.set_pre_routing_handler([&site](const httplib::Request& raw, httplib::Response& response) {
    answer(site.handle(request_of(raw)), response);
    return httplib::Server::HandlerResponse::Handled;
  });
  port_ = port == 0 ? server.bind_to_any_port(loopback)
                    : (server.bind_to_port(loopback, port) ? port : -1);
  if (port_ <= 0) {
    throw Error{make_error_code(errc::store_unavailable),
                "cannot listen on 127.0.0.1:" + std::to_string(port) +
                    "; choose another --port, or 0 for any"};
  }
}

Server::~Server() = default;

void Server::run() {
  http_->server.listen_after_bind();
  http_->over = true;
}

void Server::stop() {
  while (!http_->server.is_running() && !http_->over) {
    std::this_thread::yield();  // the library forgets a stop that comes before it listens
  }
  http_->server.stop();
}

}  // namespace holdfast::lab
