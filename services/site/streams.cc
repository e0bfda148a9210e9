#include "services/site/streams.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/rpc/client/stream_view.h"
#include "services/signal/sigmf/text.h"
#include "services/site/names.h"
#include "services/site/positions.h"

namespace tapedeck::services::tapectl {
namespace {

std::string ChannelOf(const std::string& recording) {
  return recording.substr(0, recording.rfind("/recordings/"));
}

// Those that its channel has of the stream of this name.
absl::StatusOr<Stream> FindStream(const std::string& name, client::CatalogClient& catalog) {
  TD_ASSIGN_OR_RETURN(const std::vector<Recording> recordings,
                      catalog.ListRecordings(ChannelOf(name)));
  for (Stream& stream : model::StreamsOf(recordings)) {
    if (stream.segmented && stream.name == name) return std::move(stream);
  }
  return model::Alone({.name = name});
}

absl::StatusOr<Stream> Find(const std::string& text, bool any_segment,
                            client::CatalogClient& catalog) {
  TD_ASSIGN_OR_RETURN(const std::string name, RecordingNameOf(text, catalog));
  const absl::StatusOr<Recording> found = catalog.GetRecording(name);
  absl::StatusOr<Stream> stream = model::Alone({.name = name});
  if (found.ok()) {
    const bool segment = !found->stream.empty();
    const bool whole = segment && (any_segment || model::StreamNameOf(*found) == name);
    stream = whole ? FindStream(model::StreamNameOf(*found), catalog) : model::Alone(*found);
  } else if (absl::IsNotFound(found.status())) {
    stream = FindStream(name, catalog);
  }
  return stream.ok() ? stream : model::Alone({.name = name});
}

bool IsKnown(const Stream& stream) {
  return stream.segmented || !stream.segments.front().uid.empty();
}

}  // namespace

absl::StatusOr<Stream> StreamNamed(model::Use use, const RecordingChoice& choice,
                                   client::CatalogClient& catalog) {
  const bool any_segment = choice.segment.has_value() || absl::EndsWith(choice.name, "/latest");
  TD_ASSIGN_OR_RETURN(Stream stream, Find(choice.name, any_segment, catalog));
  if (choice.segment.has_value()) {
    const auto found = std::ranges::find(stream.segments, *choice.segment, &Recording::segment);
    if (found == stream.segments.end()) {
      return RecordingNotFound(stream.name,
                               absl::StrCat(stream.name, " has no segment ", *choice.segment));
    }
    stream = model::Alone(*found);
  }
  // Of one that is gone the node's own answer says more.
  if (IsKnown(stream)) TD_RETURN_IF_ERROR(model::CheckTakes(use, stream));
  return stream;
}

absl::StatusOr<Stream> StreamThere(model::Use use, const RecordingChoice& choice,
                                   client::CatalogClient& catalog) {
  TD_ASSIGN_OR_RETURN(Stream stream, StreamNamed(use, choice, catalog));
  if (stream.segmented) return stream;
  TD_ASSIGN_OR_RETURN(stream.segments.front(), catalog.GetRecording(stream.name));
  TD_RETURN_IF_ERROR(model::CheckTakes(use, stream));
  return stream;
}

absl::Status AddLasting(client::CatalogClient& catalog, ViewControl& view, Recording* segment) {
  if (segment->stream.empty() || segment->segment == 0) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const Stream stream, FindStream(model::StreamNameOf(*segment), catalog));
  const std::vector<Annotation> before = model::AnnotationsBefore(stream, segment->segment);
  if (before.empty()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const Timeline timeline, view.GetTimeline(segment->name));
  const std::optional<uint64_t> begin = FirstSampleOf(timeline);
  if (!begin.has_value()) return absl::OkStatus();
  std::vector<Annotation> lasting = sigmf::LastingTo(*begin, before);
  segment->annotations.insert(segment->annotations.begin(), lasting.begin(), lasting.end());
  return absl::OkStatus();
}

std::string DoneText(const Stream& stream) {
  if (!stream.segmented) return ShortName(stream.name);
  return absl::StrCat(ShortName(stream.name), " with ", stream.segments.size(), " segments");
}

std::string KeptText(const Stream& stream) {
  const auto kept = static_cast<size_t>(std::ranges::count_if(stream.segments, &Recording::kept));
  if (kept == 0) return "-";
  const size_t all = stream.segments.size();
  return kept == all ? "yes" : absl::StrCat(kept, " of ", all, " segments");
}

std::string BeginOf(const Stream& stream, model::Playhead& playhead) {
  if (!stream.segmented) return stream.segments.front().name;
  playhead.stream = true;
  const std::vector<Recording>& segments = stream.segments;
  if (playhead.unit == model::Playhead::Unit::kBlock) {
    const uint64_t full = model::FullBlocks(stream);
    size_t at = 0;
    for (; at + 1 < segments.size() && playhead.start >= static_cast<int64_t>(segments[at].blocks);
         ++at) {
      const uint64_t gone = segments[at + 1].segment - segments[at].segment - 1;
      const uint64_t blocks = segments[at].blocks + gone * full;
      playhead.start -= std::min(playhead.start, static_cast<int64_t>(blocks));
    }
    return segments[at].name;
  }
  // The node looks through all of them. The newest one stays longest, unless it was made ahead.
  const auto newest = std::find_if(segments.rbegin(), segments.rend(),
                                   [](const Recording& segment) { return segment.blocks > 0; });
  return newest == segments.rend() ? segments.front().name : newest->name;
}

absl::Status CheckMostIsThere(const StreamLayout& layout, uint64_t first, uint64_t end) {
  uint64_t there = 0;
  for (const StreamPiece& piece : layout.pieces) {
    const uint64_t begin = std::max(piece.first, first);
    there += std::max(begin, std::min(piece.end(), end)) - begin;
  }
  const uint64_t gone = end - first - there;
  if (gone <= there) return absl::OkStatus();
  return ArgumentInvalid(
      "recording", absl::StrCat(layout.whole.name, ": ", gone, " of ", end - first,
                                " blocks belong to deleted segments; name one that is there, "
                                "--segment N; tapectl recordings list --segments shows them"));
}

std::unique_ptr<ViewControl> ViewOf(const Nodes& nodes, const Stream& stream,
                                    std::unique_ptr<ViewControl> view) {
  if (!stream.segmented) return view;
  const auto catalog = std::shared_ptr<client::CatalogClient>(nodes.Catalog());
  return std::make_unique<client::StreamView>(
      std::move(view), stream, [catalog, name = stream.name]() -> absl::StatusOr<Stream> {
        TD_ASSIGN_OR_RETURN(Stream now, FindStream(name, *catalog));
        if (now.segmented) return now;
        return RecordingNotFound(name, absl::StrCat(name, " has no segment any more"));
      });
}

}  // namespace tapedeck::services::tapectl
