#include "storage_node/recordings/stream_segments.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "storage_node/format/sigmf.h"
#include "storage_node/recording/seek.h"
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
  TD_ASSIGN_OR_RETURN(const auto rows, recordings.catalog()->ListRecordings(
                                           {.lun = name.lun, .channel = name.channel}));
  for (const catalog::RecordingRow& row : rows) {
    if (row.manifest.stream != stream) continue;
    segments.push_back({.number = row.manifest.segment, .name = row.name});
  }
  std::ranges::sort(segments, {}, &StreamSegment::number);
  return segments;
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
  TD_ASSIGN_OR_RETURN(const FoundRecording newest,
                      recordings.Find(made.segments_.back().name.ToString()));
  // The blocks of a part are not all of the stream.
  const format::Manifest& manifest = newest.manifest;
  if (!manifest.part.has_value()) {
    made.segment_samples_ = manifest.segment_blocks * format::BlockSamplesOf(manifest);
  }
  if (made.segment_samples_ == 0) return std::nullopt;
  TD_ASSIGN_OR_RETURN(made.first_sample_, FirstSampleOf(recordings, made.segments_));
  return made;
}

absl::StatusOr<uint64_t> StreamSegments::NumberWith(uint64_t sample) const {
  const uint64_t number = (sample - std::min(sample, first_sample_)) / segment_samples_;
  if (std::ranges::binary_search(segments_, number, {}, &StreamSegment::number)) return number;
  const std::string newest = segments_.back().name.ToString();
  if (number > segments_.back().number) {
    return services::ArgumentInvalid(
        "sample", absl::StrCat("sample ", sample, " is in no segment yet: ", newest,
                               " is the newest of its stream and ends before"));
  }
  return services::RecordingNotFound(
      newest, absl::StrCat("sample ", sample, " is of segment ", number, " of stream ", stream_,
                           ", which is gone"));
}

std::string StreamSegments::NameOf(uint64_t number) const {
  return std::ranges::lower_bound(segments_, number, {}, &StreamSegment::number)->name.ToString();
}

}  // namespace tapedeck::storage_node::recordings
