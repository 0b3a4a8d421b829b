// What the lab answers, without sockets.
#include "lab/site.hpp"

#include "lab/locks.hpp"
#include "lab/page_files.hpp"
#include "sim/random.hpp"

#include <holdfast/mutex.hpp>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace holdfast::lab {

namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

HttpAnswer get(const Site& site, const std::string& path, Pairs query = {}) {
  HttpRequest request;
  request.path = path;
  request.query = std::move(query);
  return site.handle(request);
}

std::string error_of(const HttpAnswer& answer) { return Json::parse(answer.body).at("error"); }

TEST(LabSite, ServesItsPageWithinItsWeight) {
  const Site site{{}};
  std::size_t bytes = 0;
  for (const PageFile& file : page_files()) {
    const HttpAnswer answer = get(site, std::string{file.path});
    EXPECT_EQ(answer.status, 200) << file.path;
    EXPECT_FALSE(answer.type.empty()) << file.path;
    EXPECT_EQ(answer.body, file.text) << file.path;
    bytes += answer.body.size();
  }
  EXPECT_NE(get(site, "/").body.find("<!doctype html>"), std::string::npos);
  EXPECT_EQ(get(site, "/app.js").type, "text/javascript; charset=utf-8");
  EXPECT_LE(bytes, 150'000U);
  // Nothing from elsewhere, no script or style that the policy would refuse.
  for (const PageFile& file : page_files()) {
    for (const char* const foreign : {"https://", " style=\"", " onclick=", "<script>", "eval("}) {
      EXPECT_EQ(file.text.find(foreign), std::string_view::npos) << file.path << ' ' << foreign;
    }
  }
}

TEST(LabSite, RunsAStory) {
  const Site site{{}};
  const HttpAnswer answer = get(site, "/api/run", {{"story", "gc-pause"}, {"seed", "7"}});
  EXPECT_EQ(answer.status, 200);
  const Json run = Json::parse(answer.body);
  EXPECT_EQ(run["verdict"]["double_payouts"], 1);
  EXPECT_EQ(run["address"], "story=gc-pause&seed=7");
  EXPECT_TRUE(run["picture"].get<std::string>().starts_with("<svg"));
  EXPECT_EQ(run["view"]["from"], 0);
  EXPECT_NEAR(run["view"]["to"].get<double>(), run["length"].get<double>(), 0.001);
  EXPECT_EQ(answer.body, get(site, "/api/run", {{"story", "gc-pause"}, {"seed", "7"}}).body);
}

TEST(LabSite, ShowsAPartOfIt) {
  const Site site{{}};
  const Json part =
      Json::parse(get(site, "/api/run",
                      {{"story", "gc-pause"}, {"from", "1000"}, {"to", "3000"}, {"width", "700"}})
                      .body);
  EXPECT_EQ(part["view"]["from"], 1000);
  EXPECT_EQ(part["view"]["to"], 3000);
  EXPECT_EQ(part["view"]["right"], 684);
  const Json beyond = Json::parse(
      get(site, "/api/run", {{"story", "gc-pause"}, {"from", "80000"}, {"to", "90000"}}).body);
  EXPECT_EQ(beyond["view"]["from"], 0);
}

TEST(LabSite, SavesThePicture) {
  const HttpAnswer answer = get(Site{{}}, "/api/picture", {{"story", "failover"}});
  EXPECT_EQ(answer.type, "image/svg+xml");
  EXPECT_EQ(answer.file_name, "holdfast-failover.svg");
  EXPECT_NE(answer.body.find("A failover, with the old holder cut off"), std::string::npos);
}

TEST(LabSite, HuntsForASeedThatBreaks) {
  const Site site{{}};
  std::uint64_t next = 1;
  std::uint64_t found = 0;
  for (int asked = 0; asked < 400 && found == 0; ++asked) {
    const Json answer = Json::parse(get(site, "/api/hunt", {{"seed", std::to_string(next)}}).body);
    EXPECT_GE(answer["tried"], 1);
    next = answer["next"];
    found = answer["found"].is_null() ? 0 : answer["found"].get<std::uint64_t>();
  }
  ASSERT_NE(found, 0U);
  EXPECT_EQ(next, found + 1);
  const Json run = Json::parse(get(site, "/api/run", {{"seed", std::to_string(found)}}).body);
  EXPECT_EQ(run["verdict"]["broken"], true);
}

TEST(LabSite, RefusesWhatItDoesNotKnow) {
  const Site site{{}};
  EXPECT_EQ(get(site, "/etc/passwd").status, 404);
  EXPECT_EQ(get(site, "/../CMakeLists.txt").status, 404);
  EXPECT_EQ(get(site, "/api/run", {{"story", "doom"}}).status, 400);
  EXPECT_EQ(error_of(get(site, "/api/run", {{"width", "1"}})),
            "width=1 is not a number from 320 to 4000");
  EXPECT_EQ(error_of(get(site, "/api/run", {{"from", "5"}, {"to", "5"}})), "from must be below to");
  EXPECT_EQ(get(site, "/api/run", {{"from", "99999999999999"}}).status, 400);
  EXPECT_EQ(get(site, "/api/locks").status, 404);
  HttpRequest put;
  put.method = "PUT";
  EXPECT_EQ(site.handle(put).status, 405);
}

// A page elsewhere that has its own name point at this computer gets nothing.
TEST(LabSite, AnswersToThisComputersNamesOnly) {
  const Site site{{}};
  HttpRequest request;
  for (const char* const host : {"localhost", "localhost:80", "127.0.0.1:9", "[::1]:80", "[::1]"}) {
    request.host = host;
    EXPECT_EQ(site.handle(request).status, 200) << host;
  }
  for (const char* const host : {"", "evil.example", "localhost.evil.example", "127.0.0.1.x:80",
                                 "[::2]", "[::1", "localhost@evil.example"}) {
    request.host = host;
    EXPECT_EQ(site.handle(request).status, 403) << host;
  }
}

TEST(LabSite, DoesNoWorkForForeignPages) {
  const Site site{{}};
  HttpRequest request;
  request.fetched_by = "cross-site";
  EXPECT_EQ(site.handle(request).status, 200);  // a link that somebody followed
  request.path = "/api/run";
  EXPECT_EQ(site.handle(request).status, 403);
  request.fetched_by = "same-origin";
  EXPECT_EQ(site.handle(request).status, 200);
}

LockWords words() {
  return {[](const NameView& view) {
            return nlohmann::ordered_json{{"name", view.name}, {"holders", view.holders.size()}};
          },
          [](const Holder& holder) { return "held by " + holder.who.note; }};
}

TEST(LabSite, ShowsTheLocksOfAStore) {
  Locks locks{"memory:lab-site", words()};
  const Site site{{.locks = &locks}};
  Client client{"memory:lab-site"};
  Mutex mutex{client, "payout", {.ttl = 30s, .note = "nightly"}};
  EXPECT_EQ(Json::parse(get(site, "/api/locks").body)["names"], Json::array());
  const Lease lease = mutex.acquire();
  Json seen = Json::parse(get(site, "/api/locks", {{"prefix", "pay"}}).body);
  EXPECT_EQ(seen["names"], Json::parse(R"([{"name": "payout", "holders": 1}])"));
  EXPECT_EQ(seen["may_break"], false);
  // Asked again within a second, the store is not.
  Mutex other{client, "payday", {.ttl = 30s}};
  const Lease more = other.acquire();
  seen = Json::parse(get(site, "/api/locks", {{"prefix", "pay"}}).body);
  EXPECT_EQ(seen["names"].size(), 1U);
  EXPECT_EQ(Json::parse(get(site, "/api/locks", {{"prefix", "x"}}).body)["names"].size(), 0U);
  EXPECT_EQ(get(site, "/api/locks", {{"prefix", std::string(256, 'x')}}).status, 400);
}

HttpRequest break_request(const std::string& name) {
  HttpRequest request;
  request.method = "POST";
  request.path = "/api/break";
  request.query = {{"name", name}};
  request.origin = "http://localhost:1234";
  request.from_the_page = true;
  return request;
}

TEST(LabSite, BreaksOnlyWhenAllowedAndOnlyForItsOwnPage) {
  Locks locks{"memory:lab-break", words()};
  Client client{"memory:lab-break"};
  Mutex mutex{client, "payout", {.ttl = 30s, .note = "nightly"}};
  const Lease lease = mutex.acquire();
  EXPECT_EQ(Site{{.locks = &locks}}.handle(break_request("payout")).status, 403);

  const Site site{{.locks = &locks, .allow_break = true}};
  HttpRequest request = break_request("payout");
  request.method = "GET";
  EXPECT_EQ(site.handle(request).status, 405);
  request = break_request("payout");
  request.from_the_page = false;
  EXPECT_EQ(site.handle(request).status, 403);
  request = break_request("payout");
  request.origin = "http://evil.example";
  EXPECT_EQ(site.handle(request).status, 403);
  EXPECT_EQ(site.handle(break_request("")).status, 400);
  EXPECT_TRUE(lease.valid());

  const HttpAnswer answer = site.handle(break_request("payout"));
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_NE(answer.body.find("held by nightly"), std::string::npos);
  EXPECT_NE(site.handle(break_request("nobodys")).body.find("nobody holds"), std::string::npos);
}

TEST(LabSite, AStoreThatCannotBeReachedIsALine) {
  Locks locks{"redis://127.0.0.1:1?op_timeout=200ms", words()};
  const HttpAnswer answer = get(Site{{.locks = &locks}}, "/api/locks");
  EXPECT_EQ(answer.status, 502);
  EXPECT_NE(error_of(answer), "");
}

}  // namespace

}  // namespace holdfast::lab
