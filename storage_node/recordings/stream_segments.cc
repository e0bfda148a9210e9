#include "storage_node/recordings/stream_segments.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/recording/lost.h"
#include "storage_node/format/sigmf.h"
#include "storage_node/recording/reading/seek.h"
#include "storage_node/recordings/readable.h"

namespace tapedeck::storage_node::recordings {
namespace {

// What the stream counts the first sample of its segment 0 as: what is imported may begin above 0.
// By the newest block that can be read; 0 if there is none yet.
absl::StatusOr<uint64_t> FirstSampleOf(Recordings& recordings,
                                       const std::vector<StreamSegment>& segments) {
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    const auto readable = FindReadable(recordings, segment->name.ToString(), /*growing=*/true);
    if (!readable.ok()) continue;  // it goes, or is closed at this moment
    const FoundRecording& found = readable->recording;
    TD_ASSIGN_OR_RETURN(const auto entry,
                        recording::FirstEntry(*found.lun->store, found.path(), found.manifest,
                                              readable->blocks(), recordings.luns().clock()));
    if (!entry.has_value()) continue;
    const uint64_t block = segment->number * found.manifest.segment_blocks + entry->sequence;
    const uint64_t before = block * format::BlockSamplesOf(found.manifest);
    return entry->sample_index - std::min(entry->sample_index, before);
  }
  return 0;
}

}  // namespace

absl::StatusOr<std::vector<StreamSegment>> SegmentsOf(Recordings& recordings,
                                                      const catalog::ResourceName& name,
                                                      const std::string& stream) {
  std::vector<StreamSegment> segments;
  if (stream.empty()) return segments;
  TD_ASSIGN_OR_RETURN(const auto rows, recordings.catalog()->ListSummaries(
                                           {.lun = name.lun, .channel = name.channel}));
  for (const catalog::SharedSummary& row : rows) {
    if (row->stream != stream) continue;
    segments.push_back({.number = row->segment, .name = row->name});
  }
  std::ranges::sort(segments, {}, &StreamSegment::number);
  return segments;
}

absl::StatusOr<SegmentsThere> SegmentsThere::Of(Recordings& recordings, const FoundRecording& found,
                                                const services::model::Playhead& playhead) {
  SegmentsThere there;
  if (!playhead.stream) return there;
  TD_ASSIGN_OR_RETURN(const auto segments,
                      SegmentsOf(recordings, found.name, found.manifest.stream));
  for (const StreamSegment& segment : segments) there.numbers_.push_back(segment.number);
  if (!playhead.follow && !segments.empty()) there.end_ = segments.back().number;
  return there;
}

bool SegmentsThere::None(uint64_t first, uint64_t end) const {
  const auto next = std::ranges::lower_bound(numbers_, first);
  return next != numbers_.end() && *next >= end;
}

absl::StatusOr<std::optional<StreamSegments>> StreamSegments::Of(Recordings& recordings,
                                                                 const std::string& recording) {
  TD_ASSIGN_OR_RETURN(const catalog::ResourceName name, catalog::ParseRecordingName(recording));
  const auto named = recordings.Find(recording);
  if (!named.ok() && !absl::IsNotFound(named.status())) return named.status();
  StreamSegments made;
  made.stream_ = named.ok() ? named->manifest.stream : name.recording;
  TD_ASSIGN_OR_RETURN(made.segments_, SegmentsOf(recordings, name, made.stream_));
  if (made.segments_.empty()) return std::nullopt;
  auto newest = recordings.Find(made.segments_.back().name.ToString());
  // One that was made ahead goes without a block when the stream ends.
  while (absl::IsNotFound(newest.status()) && made.segments_.size() > 1) {
    made.segments_.pop_back();
    newest = recordings.Find(made.segments_.back().name.ToString());
  }
  TD_RETURN_IF_ERROR(newest.status());
  const format::Manifest& manifest = newest->manifest;
  // The blocks of a part are not all of the stream.
  if (!manifest.part.has_value()) {
    made.segment_samples_ = manifest.segment_blocks * format::BlockSamplesOf(manifest);
  }
  if (made.segment_samples_ == 0) return std::nullopt;
  TD_ASSIGN_OR_RETURN(made.first_sample_, FirstSampleOf(recordings, made.segments_));
  return made;
}

uint64_t StreamSegments::NumberOf(uint64_t sample) const {
  return (sample - std::min(sample, first_sample_)) / segment_samples_;
}

absl::StatusOr<StreamSegments::Pieces> StreamSegments::PiecesOf(
    const services::Annotation& annotation) const {
  const StreamSegment& newest = segments_.back();
  const uint64_t first = annotation.sample_start;
  const uint64_t last =
      first + std::min(UINT64_MAX - first, std::max<uint64_t>(annotation.sample_count, 1) - 1);
  if (NumberOf(first) > newest.number) {
    return services::ArgumentInvalid(
        "sample", absl::StrCat("no segment has sample ", first, " yet: the newest, ",
                               newest.name.ToString(), ", ends before it"));
  }
  const bool in_each = services::model::IsMark(annotation, services::model::kLostLabel);
  Pieces pieces;
  auto segment = std::ranges::lower_bound(segments_, NumberOf(first), {}, &StreamSegment::number);
  for (; segment != segments_.end() && segment->number <= NumberOf(last); ++segment) {
    const uint64_t begin = segment->number > NumberOf(first) ? BeginOf(segment->number) : first;
    const bool ends = in_each && segment->number < NumberOf(last);
    const uint64_t end = ends ? BeginOf(segment->number + 1) : UINT64_MAX;
    pieces.there.push_back(
        {segment->name.ToString(), services::model::PartOf(annotation, begin, end)});
    if (!in_each) break;
  }
  // What tells the signal holds in the segments that follow, too.
  const bool holds = services::model::IsMark(annotation, format::kSignalLabel);
  if (holds && pieces.there.empty() && segment != segments_.end()) {
    pieces.there.push_back({segment->name.ToString(), annotation});
  }
  if (in_each && NumberOf(last) > newest.number) pieces.to_come = BeginOf(newest.number + 1);
  return pieces;
}

}  // namespace tapedeck::storage_node::recordings
