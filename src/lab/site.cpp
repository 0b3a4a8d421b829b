#include "lab/site.hpp"

#include <holdfast/error.hpp>

#include "lab/locks.hpp"
#include "lab/page_files.hpp"
#include "lab/picture.hpp"
#include "lab/timeline_json.hpp"
#include "sim/stories/experiment.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace holdfast::lab {

namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr Duration hunt_max = milliseconds{100};  // then the page hears how far it came
constexpr std::uint64_t width_min = 320;
constexpr std::uint64_t width_max = 4000;
constexpr std::string_view json_type = "application/json";

HttpAnswer json_answer(const Json& json, int status = 200) {
  return {status,
          std::string{json_type},
          json.dump(-1, ' ', false, Json::error_handler_t::replace),
          {}};
}

HttpAnswer refusal(int status, const std::string& line) {
  return json_answer({{"error", line}}, status);
}

// "localhost:8080", "127.0.0.1", "[::1]:80": names of this computer that no name server decides.
bool is_here(std::string_view host) {
  const std::size_t colon = host.starts_with('[') ? host.find(']') : host.find(':');
  std::string_view name = host.substr(0, colon);
  if (host.starts_with('[')) {
    name = colon == std::string_view::npos ? host : host.substr(0, colon + 1);
  }
  constexpr std::array<std::string_view, 3> ours{"localhost", "127.0.0.1", "[::1]"};
  return std::ranges::find(ours, name) != ours.end();
}

bool comes_from_here(const std::string& origin) {
  constexpr std::string_view scheme = "http://";
  return origin.empty() ||
         (origin.starts_with(scheme) && is_here(std::string_view{origin}.substr(scheme.size())));
}

// Takes `name` out of `pairs`.
std::optional<std::string> take(Pairs& pairs, std::string_view name) {
  const auto found = std::ranges::find(pairs, name, &Pairs::value_type::first);
  if (found == pairs.end()) {
    return std::nullopt;
  }
  std::string value = std::move(found->second);
  pairs.erase(found);
  return value;
}

Duration take_time(Pairs& pairs, const std::string& name) {
  const auto text = take(pairs, name);
  const std::uint64_t value = text ? parse_number(name, *text) : 0;
  constexpr std::uint64_t day = 86'400'000;
  if (value > day) {
    throw BadRequest{name + "=" + *text + " is more than a day"};
  }
  return milliseconds{static_cast<std::int64_t>(value)};
}

// What part of the picture, and how wide.
PictureOptions take_view(Pairs& pairs) {
  PictureOptions options;
  options.from = take_time(pairs, "from");
  options.to = take_time(pairs, "to");
  if (options.to > Duration{0} && options.to < options.from + milliseconds{1}) {
    throw BadRequest{"from must be below to"};
  }
  if (const auto width = take(pairs, "width")) {
    const std::uint64_t value = parse_number("width", *width);
    if (value < width_min || value > width_max) {
      throw BadRequest{"width=" + *width + " is not a number from 320 to 4000"};
    }
    options.width = static_cast<int>(value);
  }
  return options;
}

void keep_within(PictureOptions& options, const sim::Timeline& timeline) {
  options.to = options.to > Duration{0} ? std::min(options.to, timeline.length) : timeline.length;
  if (options.from >= options.to) {
    options.from = Duration{0};
  }
}

HttpAnswer run(Pairs query) {
  PictureOptions options = take_view(query);
  const Request request = parse_request(query);
  const sim::Timeline timeline = sim::tell(request.trial);
  keep_within(options, timeline);
  Json json = to_json(request, timeline);
  const PictureLayout layout = layout_of(timeline, options);
  json["view"] = {{"from", std::chrono::duration<double, std::milli>(options.from).count()},
                  {"to", std::chrono::duration<double, std::milli>(options.to).count()},
                  {"left", layout.left},
                  {"right", layout.right},
                  {"top", layout.top},
                  {"lane_height", layout.lane_height}};
  json["picture"] = draw(timeline, options);
  return json_answer(json);
}

HttpAnswer picture(Pairs query) {
  PictureOptions options = take_view(query);
  const Request request = parse_request(query);
  const sim::Timeline timeline = sim::tell(request.trial);
  keep_within(options, timeline);
  options.title = "Free play";
  std::string name = "free";
  if (request.story != nullptr) {
    options.title = request.story->title;
    options.before = request.story->before;
    options.after = sim::moral(*request.story, timeline);
    name = request.story->name;
  }
  return {200, "image/svg+xml", draw(timeline, options), "holdfast-" + name + ".svg"};
}

// From the seed of the request on, until one breaks or the time is over.
HttpAnswer hunt(const Pairs& query) {
  Request request = parse_request(query);
  const Instant end = BootClock::now() + hunt_max;
  std::uint64_t tried = 0;
  Json answer{{"found", nullptr}};
  do {
    if (sim::tell(request.trial).verdict.broken) {
      answer["found"] = request.trial.seed;
    }
    ++request.trial.seed;
    ++tried;
  } while (answer["found"].is_null() && BootClock::now() < end);
  answer["tried"] = tried;
  answer["next"] = request.trial.seed;
  return json_answer(answer);
}

}  // namespace

HttpAnswer Site::locks(const HttpRequest& request) const {
  if (options_.locks == nullptr) {
    return refusal(404, "no store: start the lab with --store URL");
  }
  Pairs query = request.query;
  const std::string prefix = take(query, "prefix").value_or("");
  if (!query.empty() || prefix.size() > name_size_max) {
    return refusal(400, "only prefix=... may be asked for, of at most 255 bytes");
  }
  Json json = options_.locks->look(prefix);
  json["may_break"] = options_.allow_break;
  return json_answer(json);
}

HttpAnswer Site::break_lock(const HttpRequest& request) const {
  if (options_.locks == nullptr || !options_.allow_break) {
    return refusal(403, "start the lab with --store URL and --allow-break to break locks");
  }
  if (!request.from_the_page || !comes_from_here(request.origin)) {
    return refusal(403, "only the lab's own page may break locks");
  }
  Pairs query = request.query;
  const std::string name = take(query, "name").value_or("");
  if (const std::string wrong = why_invalid_name(name); !wrong.empty() || !query.empty()) {
    return refusal(400, wrong.empty() ? "only name=... is expected" : "name: " + wrong);
  }
  return json_answer({{"done", options_.locks->break_name(name)}});
}

HttpAnswer Site::route(const HttpRequest& request) const {
  if (request.path == "/api/break") {
    return request.method == "POST" ? break_lock(request) : refusal(405, "breaking is a POST");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    return refusal(405, "only GET is answered here");
  }
  if (request.path == "/api/catalogue") {
    Json json = catalogue();
    json["live"] = options_.locks != nullptr;
    return json_answer(json);
  }
  if (request.path == "/api/run") {
    return run(request.query);
  }
  if (request.path == "/api/picture") {
    return picture(request.query);
  }
  if (request.path == "/api/hunt") {
    return hunt(request.query);
  }
  if (request.path == "/api/locks") {
    return locks(request);
  }
  const auto files = page_files();
  const auto file = std::ranges::find(files, request.path, &PageFile::path);
  if (file == files.end()) {
    return refusal(404, "there is nothing here");
  }
  return {200, std::string{file->type}, std::string{file->text}, {}};
}

HttpAnswer Site::handle(const HttpRequest& request) const {
  if (!is_here(request.host)) {
    return refusal(403, "the lab answers to localhost only: open http://localhost:PORT/");
  }
  // A foreign page cannot read our answers, but it could keep us busy.
  if (request.fetched_by == "cross-site" && request.path.starts_with("/api/")) {
    return refusal(403, "only the lab's own page may ask this");
  }
  try {
    return route(request);
  } catch (const BadRequest& error) {
    return refusal(400, error.what());
  } catch (const Error& error) {
    return refusal(502, error.what());
  }
}

}  // namespace holdfast::lab
