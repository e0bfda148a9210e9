#include "services/model/recording/stream.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tapedeck::services::model {
namespace {

// The worst that a user has to know.
RecordingState StateOf(const std::vector<Recording>& segments) {
  for (const RecordingState state :
       {RecordingState::kRecording, RecordingState::kDeleting, RecordingState::kSalvaged}) {
    if (std::ranges::find(segments, state, &Recording::state) != segments.end()) return state;
  }
  return RecordingState::kSealed;
}

bool IsWritten(const Recording& segment) { return segment.state == RecordingState::kRecording; }

// While a segment is deleted, the next one has those already that tell the signal.
void AddNew(const std::vector<Annotation>& annotations, const std::vector<Annotation>& before,
            std::vector<Annotation>* to) {
  std::ranges::copy_if(annotations, std::back_inserter(*to), [&](const Annotation& one) {
    return std::ranges::find(before, one) == before.end();
  });
}

}  // namespace

bool Stream::under_way() const { return segmented && std::ranges::any_of(segments, IsWritten); }

Stream Alone(Recording recording) {
  Stream alone{.name = recording.name};
  alone.segments.push_back(std::move(recording));
  return alone;
}

std::string StreamNameOf(const Recording& segment) {
  return absl::StrCat(segment.name.substr(0, segment.name.rfind('/') + 1), segment.stream);
}

std::vector<Stream> StreamsOf(const std::vector<Recording>& recordings) {
  std::vector<Stream> streams;
  std::map<std::string, size_t> places;
  for (const Recording& recording : recordings) {
    if (recording.stream.empty()) {
      streams.push_back(Alone(recording));
      continue;
    }
    const std::string name = StreamNameOf(recording);
    const auto [place, added] = places.emplace(name, streams.size());
    if (added) streams.push_back({.name = name, .segmented = true});
    streams[place->second].segments.push_back(recording);
  }
  for (Stream& stream : streams) std::ranges::sort(stream.segments, {}, &Recording::segment);
  return streams;
}

uint64_t FullBlocks(const Stream& stream) {
  uint64_t full = 0;
  for (const Recording& segment : stream.segments) full = std::max(full, segment.blocks);
  return full;
}

Recording Joined(const Stream& stream) {
  Recording joined = stream.segments.front();
  if (!stream.segmented) return joined;
  const Recording& last = stream.segments.back();
  joined.name = stream.name;
  joined.state = StateOf(stream.segments);
  joined.close_time_ns = last.close_time_ns;
  joined.stage_times.clear();
  for (size_t i = 1; i < stream.segments.size(); ++i) {
    const Recording& segment = stream.segments[i];
    joined.blocks += segment.blocks;
    joined.bytes += segment.bytes;
    joined.missing_blocks += segment.missing_blocks;
    joined.durable_watermark += segment.durable_watermark;
    joined.kept = joined.kept && segment.kept;
    joined.labels.insert(segment.labels.begin(), segment.labels.end());
    if (joined.description.empty()) joined.description = segment.description;
    if (joined.cause.empty()) joined.cause = segment.cause;
    AddNew(segment.annotations, stream.segments[i - 1].annotations, &joined.annotations);
  }
  const uint64_t gone = last.segment - stream.segments.front().segment + 1 - stream.segments.size();
  const uint64_t gone_blocks = gone * FullBlocks(stream);
  joined.blocks += gone_blocks;
  joined.missing_blocks += gone_blocks;
  joined.durable_watermark += gone_blocks;
  return joined;
}

std::vector<Annotation> AnnotationsBefore(const Stream& stream, uint64_t segment) {
  std::vector<Annotation> before;
  for (const Recording& one : stream.segments) {
    if (one.segment >= segment) break;
    before.insert(before.end(), one.annotations.begin(), one.annotations.end());
  }
  return before;
}

std::string SegmentsText(const Stream& stream) {
  if (!stream.segmented) return "-";
  const size_t count = stream.segments.size();
  const uint64_t first = stream.segments.front().segment;
  const uint64_t last = stream.segments.back().segment;
  if (last - first + 1 != count) return absl::StrCat(count, " of ", first, "-", last);
  return first == 0 ? absl::StrCat(count) : absl::StrCat(count, " (", first, "-", last, ")");
}

StreamLayout LayOut(const Stream& stream) {
  StreamLayout layout{.whole = Joined(stream)};
  Recording& whole = layout.whole;
  if (!stream.segmented) {
    layout.pieces.push_back({.blocks = whole.blocks});
    return layout;
  }
  const uint64_t full = FullBlocks(stream);
  const uint64_t oldest = stream.segments.front().segment;
  uint64_t there = 0;
  whole.bytes = 0;
  whole.missing_blocks = 0;
  whole.durable_watermark = 0;
  for (size_t i = 0; i < stream.segments.size(); ++i) {
    const Recording& segment = stream.segments[i];
    const bool written = IsWritten(segment);
    const uint64_t blocks =
        written ? std::min(segment.durable_watermark, segment.blocks) : segment.blocks;
    const uint64_t first = (segment.segment - oldest) * full;
    if (blocks > 0) layout.pieces.push_back({.segment = i, .first = first, .blocks = blocks});
    if (blocks > 0) whole.durable_watermark = first + blocks;
    there += blocks;
    whole.bytes += segment.bytes;
    whole.missing_blocks += segment.missing_blocks;
    if (written) break;  // what follows it is not durable before it is
  }
  whole.blocks = whole.durable_watermark;
  whole.missing_blocks += whole.blocks - there;
  return layout;
}

}  // namespace tapedeck::services::model
