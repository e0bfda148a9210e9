#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gpu_worker/job/annotator.h"
#include "services/model/recording/lost.h"
#include "services/signal/vita49/signal_text.h"

namespace tapedeck::gpu_worker::job {

using services::Annotation;

namespace {

uint64_t EndOf(const Annotation& mark) {
  const uint64_t samples = std::max<uint64_t>(mark.sample_count, 1);
  return mark.sample_start + std::min(samples, UINT64_MAX - mark.sample_start);
}

bool IsSignal(const Annotation& mark) {
  return services::model::IsMark(mark, services::vita49::kSignalLabel);
}

// The part within the extent. The comment speaks of the whole span and says so; readers know lost
// samples by theirs, or by none.
Annotation Cut(Annotation mark, const CaptureMarks::Extent& extent) {
  const uint64_t end = EndOf(mark);
  if (mark.sample_start >= extent.first && end <= extent.end) return mark;
  if (!services::model::IsMark(mark, services::model::kLostLabel)) {
    const std::string whole =
        absl::StrCat("of samples ", mark.sample_start, " to ", end - 1, " of the stream");
    absl::StrAppend(&mark.comment, mark.comment.empty() ? "" : ", ", whole);
  }
  return services::model::PartOf(std::move(mark), extent.first, extent.end);
}

}  // namespace

void CaptureMarks::Add(Annotation mark) { marks_.push_back({.annotation = std::move(mark)}); }

std::optional<size_t> CaptureMarks::StateAt(uint64_t sample) const {
  std::optional<size_t> state;
  for (size_t i = 0; i < marks_.size(); ++i) {
    const Annotation& mark = marks_[i].annotation;
    if (!IsSignal(mark) || mark.sample_start > sample) continue;
    // Of two at one sample the later one counts.
    const bool newer =
        !state.has_value() || mark.sample_start >= marks_[*state].annotation.sample_start;
    if (newer) state = i;
  }
  if (state.has_value() && marks_[*state].annotation.sample_start == sample) return std::nullopt;
  return state;
}

std::vector<CaptureMarks::Due> CaptureMarks::DueIn(const std::string& capture,
                                                   const Extent& extent) const {
  std::vector<Due> due;
  if (extent.first >= extent.end) return due;
  const auto found = given_.find(capture);
  const auto given = [&](size_t mark) {
    return found != given_.end() && found->second.contains(mark);
  };
  if (const auto state = StateAt(extent.first); state.has_value() && !given(*state)) {
    due.push_back({.mark = *state, .annotation = marks_[*state].annotation});
    due.back().annotation.sample_start = extent.first;
  }
  for (size_t i = 0; i < marks_.size(); ++i) {
    const Annotation& mark = marks_[i].annotation;
    const bool overlaps = mark.sample_start < extent.end && EndOf(mark) > extent.first;
    const bool whole = extent.closed || EndOf(mark) <= extent.end;
    if (overlaps && whole && !given(i)) due.push_back({.mark = i, .annotation = Cut(mark, extent)});
  }
  return due;
}

void CaptureMarks::Given(const std::string& capture, const Due& due) {
  marks_[due.mark].kept = true;
  given_[capture].insert(due.mark);
}

uint64_t CaptureMarks::unkept() const {
  return static_cast<uint64_t>(
      std::ranges::count_if(marks_, [](const Mark& mark) { return !mark.kept; }));
}

}  // namespace tapedeck::gpu_worker::job
