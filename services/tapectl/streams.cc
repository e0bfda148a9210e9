#include "services/tapectl/streams.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/errors.h"
#include "services/tapectl/names.h"

namespace tapedeck::services::tapectl {
namespace {

constexpr char kRecordings[] = "/recordings/";

std::string ChannelOf(const std::string& recording) {
  return recording.substr(0, recording.rfind(kRecordings));
}

std::string IdOf(const std::string& recording) {
  return recording.substr(recording.rfind(kRecordings) + sizeof(kRecordings) - 1);
}

std::string StreamName(const Recording& segment) {
  return absl::StrCat(ChannelOf(segment.name), kRecordings, segment.stream);
}

Stream Alone(Recording recording) {
  Stream alone{.name = recording.name};
  alone.segments.push_back(std::move(recording));
  return alone;
}

// Those that its channel has of the stream of this name.
absl::StatusOr<Stream> FindStream(const std::string& name, client::CatalogClient& catalog) {
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> recordings,
                      catalog.ListRecordings(ChannelOf(name)));
  for (Stream& stream : StreamsOf(recordings)) {
    if (stream.segmented && stream.name == name) return std::move(stream);
  }
  return Alone({.name = name});
}

absl::StatusOr<Stream> Find(const std::string& text, bool any_segment,
                            client::CatalogClient& catalog) {
  TD_ASSIGN_OR_RETURN(const std::string name, RecordingNameOf(text, catalog));
  const absl::StatusOr<Recording> found = catalog.GetRecording(name);
  absl::StatusOr<Stream> stream = Alone({.name = name});
  if (found.ok()) {
    const bool whole = any_segment || found->stream == IdOf(name);
    stream =
        found->stream.empty() || !whole ? Alone(*found) : FindStream(StreamName(*found), catalog);
  } else if (absl::IsNotFound(found.status())) {
    stream = FindStream(name, catalog);
  }
  return stream.ok() ? stream : Alone({.name = name});
}

// The worst that a user has to know.
RecordingState StateOf(const std::vector<Recording>& segments) {
  for (const RecordingState state :
       {RecordingState::kRecording, RecordingState::kDeleting, RecordingState::kSalvaged}) {
    if (std::ranges::find(segments, state, &Recording::state) != segments.end()) return state;
  }
  return RecordingState::kSealed;
}

}  // namespace

std::vector<Stream> StreamsOf(const std::vector<Recording>& recordings) {
  std::vector<Stream> streams;
  std::map<std::string, size_t> places;
  for (const Recording& recording : recordings) {
    if (recording.stream.empty()) {
      streams.push_back(Alone(recording));
      continue;
    }
    const std::string name = StreamName(recording);
    const auto [place, added] = places.emplace(name, streams.size());
    if (added) streams.push_back({.name = name, .segmented = true});
    streams[place->second].segments.push_back(recording);
  }
  for (Stream& stream : streams) std::ranges::sort(stream.segments, {}, &Recording::segment);
  return streams;
}

absl::StatusOr<Stream> StreamNamed(const std::string& text, std::optional<uint64_t> segment,
                                   client::CatalogClient& catalog) {
  const bool any_segment = segment.has_value() || absl::EndsWith(text, "/latest");
  TD_ASSIGN_OR_RETURN(const Stream stream, Find(text, any_segment, catalog));
  if (!segment.has_value()) return stream;
  const auto found = std::ranges::find(stream.segments, *segment, &Recording::segment);
  if (found != stream.segments.end()) return Alone(*found);
  return RecordingNotFound(stream.name, absl::StrCat(stream.name, " has no segment ", *segment));
}

Recording Joined(const Stream& stream) {
  Recording joined = stream.segments.front();
  if (!stream.segmented) return joined;
  const Recording& last = stream.segments.back();
  joined.name = stream.name;
  joined.state = StateOf(stream.segments);
  joined.end_time_ns = last.end_time_ns;
  joined.stage_times.clear();
  for (const Recording& segment : stream.segments) {
    if (&segment == &stream.segments.front()) continue;
    joined.blocks += segment.blocks;
    joined.bytes += segment.bytes;
    joined.missing_blocks += segment.missing_blocks;
    joined.durable_watermark += segment.durable_watermark;
    joined.kept = joined.kept && segment.kept;
    if (joined.cause.empty()) joined.cause = segment.cause;
    joined.annotations.insert(joined.annotations.end(), segment.annotations.begin(),
                              segment.annotations.end());
  }
  return joined;
}

std::string SegmentsText(const Stream& stream) {
  if (!stream.segmented) return "-";
  const size_t count = stream.segments.size();
  const uint64_t first = stream.segments.front().segment;
  const uint64_t last = stream.segments.back().segment;
  if (last - first + 1 != count) return absl::StrCat(count, " of ", first, "-", last);
  return first == 0 ? absl::StrCat(count) : absl::StrCat(count, " (", first, "-", last, ")");
}

std::string BeginOf(const Stream& stream, session::Playhead& playhead) {
  if (!stream.segmented) return stream.segments.front().name;
  playhead.stream = true;
  const std::vector<Recording>& segments = stream.segments;
  if (playhead.unit == session::Playhead::Unit::kBlock) {
    size_t at = 0;
    for (; at + 1 < segments.size() && playhead.start >= static_cast<int64_t>(segments[at].blocks);
         ++at) {
      playhead.start -= static_cast<int64_t>(segments[at].blocks);
    }
    return segments[at].name;
  }
  // The node looks through all of them. The newest one stays longest, unless it was made ahead.
  const auto newest = std::find_if(segments.rbegin(), segments.rend(),
                                   [](const Recording& segment) { return segment.blocks > 0; });
  return newest == segments.rend() ? segments.front().name : newest->name;
}

}  // namespace tapedeck::services::tapectl
