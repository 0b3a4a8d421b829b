// The end of a recording: what is still open is closed, and what nobody told is worked out.
#include "sim/timeline/recorder.hpp"

#include <algorithm>

namespace holdfast::sim {

namespace {

using Edges = std::vector<std::pair<Duration, int>>;

Edges edges_of(const std::vector<Span>& spans, bool readers) {
  Edges edges;
  for (const Span& span : spans) {
    if (span.kind == SpanKind::believes && span.from < span.to && span.shared == readers) {
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

// Two at once are two writers: readers may be beside one another, and the store keeps writers out.
// Nobody is at work when there is neither.
void Recorder::measure(Timeline& timeline, Duration needed_until) {
  Duration two_since{};
  int writers = 0;
  Edges all = edges_of(timeline.spans, false);
  for (const auto& [when, change] : all) {
    const int before = writers;
    writers += change;
    if (before == 1 && writers == 2) {
      two_since = when;
    } else if (before == 2 && writers == 1) {
      timeline.verdict.overlap += when - two_since;
    }
  }
  const Edges readers = edges_of(timeline.spans, true);
  all.insert(all.end(), readers.begin(), readers.end());
  std::ranges::sort(all);
  Duration idle_since{0};
  int inside = 0;
  for (const auto& [when, change] : all) {
    const int before = inside;
    inside += change;
    if (before == 0) {
      timeline.verdict.idle += std::max(Duration{0}, std::min(when, needed_until) - idle_since);
    } else if (inside == 0) {
      idle_since = when;
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
  end_kept(world_.now());
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
