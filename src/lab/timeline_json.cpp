#include "lab/timeline_json.hpp"

#include "sim/stories/knob.hpp"

#include <nlohmann/json.hpp>

namespace holdfast::lab {

namespace {

using Json = nlohmann::ordered_json;

double milliseconds(Duration time) {
  return static_cast<double>(std::chrono::round<std::chrono::microseconds>(time).count()) / 1000;
}

void add_who(Json& object, const std::optional<std::size_t>& who) {
  if (who) {
    object["who"] = *who;
  }
}

Json to_json(const sim::Span& span) {
  Json object{{"kind", word(span.kind)},
              {"lane", span.lane},
              {"from", milliseconds(span.from)},
              {"to", milliseconds(span.to)}};
  add_who(object, span.who);
  if (span.fence != Fence::none) {
    object["fence"] = to_int(span.fence);
  }
  object["text"] = span.text;
  return object;
}

Json to_json(const sim::Mark& mark) {
  Json object{{"kind", word(mark.kind)}, {"lane", mark.lane}, {"at", milliseconds(mark.at)}};
  add_who(object, mark.who);
  object["text"] = mark.text;
  return object;
}

Json to_json(const sim::Verdict& verdict) {
  return {{"broken", verdict.broken},
          {"text", text(verdict)},
          {"orders", verdict.orders},
          {"paid", verdict.paid},
          {"double_payouts", verdict.double_payouts},
          {"torn_reports", verdict.torn},
          {"refused", verdict.refused},
          {"deleted_by_strangers", verdict.robbed},
          {"two_at_once", milliseconds(verdict.overlap)},
          {"nobody_at_work", milliseconds(verdict.idle)},
          {"objections", verdict.objections}};
}

template <class Items, class Make>
Json list(const Items& items, Make make) {
  Json array = Json::array();
  for (const auto& item : items) {
    array.push_back(make(item));
  }
  return array;
}

Json switches_of(const sim::Story& story) {
  return list(story.switches, [](const sim::Switch& each) {
    return Json{{"name", each.name}, {"label", each.label}, {"on", each.on}, {"cures", each.cures}};
  });
}

std::string_view word(sim::Knob::Kind kind) {
  switch (kind) {
    case sim::Knob::Kind::time:
      return "time";
    case sim::Knob::Kind::count:
      return "count";
    case sim::Knob::Kind::flag:
      return "flag";
    case sim::Knob::Kind::choice:
      return "choice";
  }
  return "";
}

}  // namespace

Json to_json(const Request& request, const sim::Timeline& timeline) {
  Json object{{"story", request.story != nullptr ? request.story->name : "free"},
              {"seed", timeline.seed},
              {"address", address_of(request)}};
  if (request.story != nullptr) {
    object["title"] = request.story->title;
    object["before"] = request.story->before;
    object["after"] = sim::moral(*request.story, timeline);
  }
  object["length"] = milliseconds(timeline.length);
  object["verdict"] = to_json(timeline.verdict);
  object["lanes"] = list(timeline.lanes, [](const sim::Lane& lane) {
    return Json{{"kind", word(lane.kind)}, {"label", lane.label}};
  });
  object["spans"] = list(timeline.spans, [](const sim::Span& span) { return to_json(span); });
  object["events"] = list(timeline.marks, [](const sim::Mark& mark) { return to_json(mark); });
  object["windows"] = list(timeline.windows, [](const sim::Window& window) {
    return Json{{"lane", window.lane},
                {"at", milliseconds(window.at)},
                {"trusted_until", milliseconds(window.trusted_until)},
                {"kept_until", milliseconds(window.kept_until)}};
  });
  return object;
}

Json catalogue() {
  const sim::Trial usual = parse_request({}).trial;
  return {{"stories", list(sim::stories(),
                           [](const sim::Story& story) {
                             return Json{{"name", story.name},
                                         {"title", story.title},
                                         {"before", story.before},
                                         {"switches", switches_of(story)}};
                           })},
          {"knobs", list(sim::knobs(), [&](const sim::Knob& knob) {
             Json object{{"name", knob.name},       {"label", knob.label},
                         {"kind", word(knob.kind)}, {"value", text(knob, usual)},
                         {"low", knob.low},         {"high", knob.high}};
             if (!knob.choices.empty()) {
               object["choices"] = knob.choices;
             }
             return object;
           })}};
}

}  // namespace holdfast::lab
