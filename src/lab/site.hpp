// What the lab answers, without sockets: a request as values in, an answer as values out.
// Thread-safe.
//
//   Site site{{.locks = &locks}};
//   const Answer answer = site.handle({.path = "/api/run", .query = {{"story", "gc-pause"}}});
//
// Only requests that name this computer in their Host header are answered, so that no page from
// elsewhere can reach the lab under a name of its own; what changes something needs a header that a
// foreign page cannot send.
#pragma once

#include "lab/request.hpp"

#include <string>
#include <string_view>

namespace holdfast::lab {

class Locks;

struct HttpRequest {
  std::string method = "GET";
  std::string path = "/";
  Pairs query{};  // decoded
  std::string host = "localhost";
  std::string origin{};        // empty: none
  std::string fetched_by{};    // Sec-Fetch-Site, as browsers send it; empty: not told
  bool from_the_page = false;  // carries the header that only a page of ours sends
};

struct HttpAnswer {
  int status = 200;
  std::string type{};
  std::string body{};
  std::string file_name{};  // unset: to be shown, not saved
};

struct SiteOptions {
  Locks* locks = nullptr;    // null: no tab of live locks; must outlive the site
  bool allow_break = false;  // of live locks
};

class Site {
 public:
  explicit Site(SiteOptions options) : options_(options) {}

  HttpAnswer handle(const HttpRequest& request) const;

 private:
  HttpAnswer route(const HttpRequest& request) const;
  HttpAnswer locks(const HttpRequest& request) const;
  HttpAnswer break_lock(const HttpRequest& request) const;

  SiteOptions options_;
};

// The header that a page of ours sends.
inline constexpr std::string_view page_header = "X-Holdfast-Lab";
// For every answer: nothing but our own scripts and styles, framed by nobody, sent nowhere.
inline constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace holdfast::lab
