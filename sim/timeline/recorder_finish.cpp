// The end of a recording: what is still open is closed, and what nobody told is worked out.
#include "sim/timeline/recorder.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

using Edges = std::vector<std::pair<Duration, int>>;

Edges edges_of(const std::vector<Span>& spans) {
  Edges edges;
  for (const Span& span : spans) {
    if (span.kind == SpanKind::believes && span.from < span.to) {
      edges.emplace_back(span.from, 1);
      edges.emplace_back(span.to, -1);
    }
  }
  std::ranges::sort(edges);  // at one instant an end comes before a beginning
  return edges;
}

}  // namespace

// A lease that nobody gave back is still on record when its holder has stopped trusting it.
void Recorder::add_margins() {
  for (const auto& [owner, lease] : leases_) {
    const auto kept = kept_until_.find(owner);
    const Duration trust_end = spans_[lease.span].to;
    if (kept == kept_until_.end() || trust_end < at(lease.until)) {
      continue;  // given back, crashed or taken before its time
    }
    for (const Span& span : std::vector<Span>{spans_}) {
      if (span.kind == SpanKind::holds && span.who == lease.node && span.from < trust_end &&
          span.to > trust_end) {
        spans_.push_back({SpanKind::margin, lease.node, trust_end, span.to, lease.node, span.fence,
                          "trusted no more, but still on record: the safety margin"});
        break;
      }
    }
  }
}

void Recorder::measure(Timeline& timeline, Duration needed_until) {
  Duration idle_since{0};
  Duration two_since{};
  int inside = 0;
  for (const auto& [when, change] : edges_of(timeline.spans)) {
    const int before = inside;
    inside += change;
    if (before == 0) {
      timeline.verdict.idle += std::max(Duration{0}, std::min(when, needed_until) - idle_since);
    } else if (inside == 0) {
      idle_since = when;
    }
    if (before == 1 && inside == 2) {
      two_since = when;
    } else if (before == 2 && inside == 1) {
      timeline.verdict.overlap += when - two_since;
    }
  }
  if (inside == 0) {
    timeline.verdict.idle += std::max(Duration{0}, needed_until - idle_since);
  }
}

Timeline Recorder::finish(Duration needed_until) {
  expire_kept();
  const Duration end = at(world_.now());
  for (auto& [owner, lease] : leases_) {
    end_lease(lease, world_.now());
  }
  if (kept_) {
    end_kept(world_.now());
  }
  for (Span& span : spans_) {
    span.to = std::min(span.to, end);
  }
  add_margins();
  std::ranges::stable_sort(spans_, [](const Span& a, const Span& b) {
    return a.lane != b.lane ? a.lane < b.lane : a.from < b.from;
  });
  std::ranges::stable_sort(marks_, {}, &Mark::at);
  Timeline timeline;
  timeline.length = end;
  timeline.lanes = lanes_;
  timeline.spans = spans_;
  timeline.marks = marks_;
  timeline.windows = windows_;
  measure(timeline, needed_until);
  return timeline;
}

}  // namespace holdfast::sim
