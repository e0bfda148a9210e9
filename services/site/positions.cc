#include "services/site/positions.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/recording/sample_time.h"
#include "services/site/names.h"
#include "services/site/units.h"

namespace tapedeck::services::tapectl {
namespace {

using Unit = model::Playhead::Unit;

// The numbers of a session's samples are signed on their way.
constexpr uint64_t kMostIndex = INT64_MAX;

// Where a recording, a segment or a stream lies in its session.
struct Extent {
  std::string name;
  std::vector<CaptureStart> captures;  // at each, from which number on the session counts
  uint64_t samples = 0;                // those there are so far
  bool grows = false;                  // more may follow
  model::SampleTime start_ns{};        // of its sample 0
  model::SampleTime end_ns{};          // of the one behind its last
  uint64_t last() const { return samples - std::min<uint64_t>(samples, 1); }
};

// A stream begins with the oldest segment that it lists.
absl::StatusOr<Extent> ExtentOf(const Stream& stream, ViewControl& view) {
  TD_ASSIGN_OR_RETURN(const Timeline oldest, view.GetTimeline(stream.segments.front().name));
  if (oldest.captures.empty()) {
    return ArgumentInvalid("recording",
                           absl::StrCat(stream.name, " has no sample yet, from which to count"));
  }
  Extent extent{.name = stream.name,
                .captures = oldest.captures,
                .samples = oldest.samples,
                .grows = oldest.state == RecordingState::kRecording,
                .start_ns = oldest.start_time_ns};
  if (stream.segmented) {
    extent.grows = stream.under_way();
    extent.captures.resize(1);
    const StreamLayout layout = model::LayOut(stream);
    if (!layout.pieces.empty() && layout.pieces.back().segment > 0) {
      const StreamPiece& last = layout.pieces.back();
      TD_ASSIGN_OR_RETURN(const Timeline newest,
                          view.GetTimeline(stream.segments[last.segment].name));
      extent.samples = last.first * oldest.block_samples + newest.samples;
    }
  }
  extent.end_ns = model::TimeAfter(extent.start_ns, extent.samples, oldest.sample_rate);
  return extent;
}

enum class At { kSample, kEnd };  // kEnd: one behind the last sample that is meant

absl::StatusOr<uint64_t> InSession(const Extent& extent, absl::string_view field, uint64_t position,
                                   At at) {
  const uint64_t end = at == At::kEnd ? 1 : 0;
  const uint64_t sample = position - std::min(position, end);
  const auto behind = std::ranges::upper_bound(extent.captures, sample, {}, &CaptureStart::sample);
  const CaptureStart& from = behind == extent.captures.begin() ? *behind : *std::prev(behind);
  const bool fits = position <= kMostIndex - std::min(from.stream_sample, kMostIndex);
  if (fits && (extent.grows || sample < extent.samples)) {
    return from.stream_sample + sample - from.sample + end;
  }
  return ArgumentInvalid(
      field, absl::StrCat(field, ": ", position, " is beyond ", extent.name, ", which has ",
                          extent.samples, " samples, 0 to ", extent.last()));
}

absl::Status CountPacing(const Extent& extent, model::Pacing& pacing) {
  if (pacing.end_sample.has_value()) {
    TD_ASSIGN_OR_RETURN(pacing.end_sample,
                        InSession(extent, "pacing.end_sample", *pacing.end_sample, At::kEnd));
  }
  if (!pacing.loop.has_value()) return absl::OkStatus();
  model::SampleRange& loop = *pacing.loop;
  TD_ASSIGN_OR_RETURN(loop.first, InSession(extent, "pacing.loop", loop.first, At::kSample));
  TD_ASSIGN_OR_RETURN(loop.end, InSession(extent, "pacing.loop", loop.end, At::kEnd));
  return absl::OkStatus();
}

// A time beyond the end is an error, one before the start a note.
absl::StatusOr<std::string> NoteOnTime(const Extent& extent, int64_t time_ns) {
  if (!extent.start_ns.has_value()) return "";
  if (time_ns < *extent.start_ns) {
    return absl::StrCat(ShortName(extent.name), " begins at ", FormatExactTime(*extent.start_ns),
                        ", later than ", FormatExactTime(time_ns),
                        ": the playback starts at its first sample");
  }
  const bool beyond = extent.end_ns.has_value() && time_ns >= *extent.end_ns;
  if (extent.grows || !beyond) return "";
  return ArgumentInvalid(
      "playhead", absl::StrCat("playhead: ", FormatExactTime(time_ns), " is beyond ", extent.name,
                               ", which lasts from ", FormatExactTime(*extent.start_ns), " to ",
                               FormatExactTime(*extent.end_ns)));
}

// Whether what begins is before what ends.
bool InOrder(const model::Playhead& playhead, const model::Pacing& pacing) {
  if (pacing.loop.has_value() && pacing.loop->first >= pacing.loop->end) return false;
  const bool both = playhead.unit == Unit::kSample && pacing.end_sample.has_value();
  return !both || static_cast<uint64_t>(playhead.start) < *pacing.end_sample;
}

absl::Status NoSuchSample(const Extent& extent, uint64_t sample) {
  return ArgumentInvalid(
      "sample", absl::StrCat("no segment of ", extent.name, " has sample ", sample, "; it has ",
                             extent.samples, " samples, 0 to ", extent.last(),
                             ": tapectl recordings list --segments shows them"));
}

// The segment that has the session's sample `index`: the last one that begins there or before. One
// without a block is among the newest, one that is gone among the oldest.
absl::StatusOr<SamplePlace> InSegments(const Stream& stream, const Extent& extent, uint64_t sample,
                                       uint64_t index, ViewControl& view) {
  std::optional<Timeline> found;
  size_t at = 0;
  for (size_t begin = 0, end = stream.segments.size(); begin < end;) {
    const size_t middle = begin + (end - begin) / 2;
    const auto timeline = view.GetTimeline(stream.segments[middle].name);
    if (!timeline.ok() && !absl::IsNotFound(timeline.status())) return timeline.status();
    const bool after = timeline.ok() && FirstSampleOf(*timeline).value_or(UINT64_MAX) > index;
    if (timeline.ok() && !after) {
      found = *timeline;
      at = middle;
    }
    (after ? end : begin) = after ? middle : middle + 1;
  }
  const bool has = found.has_value() && index - *FirstSampleOf(*found) < found->samples;
  if (!has) return NoSuchSample(extent, sample);
  return SamplePlace{stream.segments[at].name, index};
}

}  // namespace

std::optional<uint64_t> FirstSampleOf(const Timeline& timeline) {
  if (timeline.captures.empty()) return std::nullopt;
  // Blocks before it are missing.
  const CaptureStart& front = timeline.captures.front();
  return front.stream_sample - std::min(front.sample, front.stream_sample);
}

absl::StatusOr<std::string> CountInSession(const Stream& stream, ViewControl& view,
                                           model::Playhead& playhead, model::Pacing& pacing) {
  const bool by_time = playhead.unit == Unit::kTime;
  const bool by_sample = (playhead.unit == Unit::kSample && playhead.start != 0) ||
                         pacing.end_sample.has_value() || pacing.loop.has_value();
  if ((!by_time && !by_sample) || !InOrder(playhead, pacing)) return "";
  absl::StatusOr<Extent> extent = ExtentOf(stream, view);
  // Of a time the node says what is wrong with it.
  if (!extent.ok() && !by_sample) return "";
  TD_RETURN_IF_ERROR(extent.status());
  extent->grows |= playhead.stream;  // the segments that follow count, too
  TD_RETURN_IF_ERROR(CountPacing(*extent, pacing));
  if (playhead.unit == Unit::kSample && playhead.start != 0) {
    TD_ASSIGN_OR_RETURN(
        const uint64_t start,
        InSession(*extent, "playhead", static_cast<uint64_t>(playhead.start), At::kSample));
    playhead.start = static_cast<int64_t>(start);
  }
  return by_time ? NoteOnTime(*extent, playhead.start) : "";
}

absl::StatusOr<SamplePlace> PlaceOfSample(const Stream& stream, uint64_t sample,
                                          ViewControl& view) {
  const Recording& oldest = stream.segments.front();
  if (!stream.segmented && oldest.part.has_value()) return SamplePlace{oldest.name, sample};
  TD_ASSIGN_OR_RETURN(Extent extent, ExtentOf(stream, view));
  extent.grows |= stream.segmented;  // which segment has it is looked for
  TD_ASSIGN_OR_RETURN(const uint64_t index, InSession(extent, "sample", sample, At::kSample));
  if (stream.segmented) return InSegments(stream, extent, sample, index, view);
  return SamplePlace{oldest.name, index};
}

}  // namespace tapedeck::services::tapectl
