#include "gpu_worker/stages/ingest/ranges.h"

#include <algorithm>

namespace tapedeck::gpu_worker::stages::ingest {

Ranges::Added Ranges::Add(const Range& more) {
  // The first that begins behind it: mostly there is none.
  auto next = ranges_.end();
  if (!ranges_.empty() && ranges_.back().begin >= more.begin) {
    next = std::ranges::lower_bound(ranges_, more.begin, {}, &Range::begin);
  }
  if (next != ranges_.end() && next->begin < more.end) return Added::kOverlaps;
  const bool has_previous = next != ranges_.begin();
  if (has_previous && std::prev(next)->end > more.begin) return Added::kOverlaps;
  const bool joins_next = next != ranges_.end() && next->begin == more.end;
  if (has_previous && std::prev(next)->end == more.begin) {
    std::prev(next)->end = joins_next ? next->end : more.end;
    if (joins_next) ranges_.erase(next);
  } else if (joins_next) {
    next->begin = more.begin;
  } else {
    if (ranges_.size() >= kMost) return Added::kTooMany;
    ranges_.insert(next, more);
  }
  return Added::kAdded;
}

std::vector<Range> Ranges::Gaps(size_t end) const {
  std::vector<Range> gaps;
  size_t at = 0;
  for (const Range& range : ranges_) {
    if (range.begin >= end) break;
    if (range.begin > at) gaps.push_back({at, range.begin});
    at = range.end;
  }
  if (at < end) gaps.push_back({at, end});
  return gaps;
}

}  // namespace tapedeck::gpu_worker::stages::ingest
