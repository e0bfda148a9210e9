#include "storage_node/recordings/metadata_writer.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dataplane/deadline.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/signal/sigmf/text.h"
#include "storage_node/recording/writing/ending.h"
#include "storage_node/recordings/stream_marker.h"
#include "storage_node/recordings/stream_segments.h"

namespace tapedeck::storage_node::recordings {
namespace {

// What is being closed at this moment is closed soon.
constexpr absl::Duration kClosing = absl::Seconds(3);

// For the annotations of a stream; clients wait for five.
constexpr absl::Duration kOneCall = absl::Seconds(1);

// Acts once more when a recording is closed that was being closed.
absl::Status ActOnceClosed(Recordings& recordings, const std::string& recording,
                           const std::function<absl::Status()>& act) {
  absl::Status status = act();
  const auto reason = services::ReasonOf(status);
  if (!reason.has_value() || reason->reason != "RECORDING_BUSY") return status;
  if (!recordings.AwaitClosed(recording, dataplane::Deadline::In(kClosing))) return status;
  return act();
}

// It was deleted for want of room before it could be kept, and so was all before it.
void LeaveOut(const std::string& recording, capture::Caught& caught) {
  services::Capture& capture = caught.capture;
  const auto gone = std::ranges::find(capture.recordings, recording);
  if (gone == capture.recordings.end()) return;
  const auto end = caught.ends.begin() + (gone - capture.recordings.begin());
  capture.first_sample = std::max(capture.first_sample, *end);
  caught.ends.erase(end);
  capture.recordings.erase(gone);
  capture.recording = capture.recordings.empty() ? "" : capture.recordings.front();
  if (caught.to_mark == recording) caught.to_mark.clear();
}

absl::Status NoRoomForAnnotations(const FoundRecording& found) {
  const std::string recording = found.name.ToString();
  const uint64_t kib = found.lun->store->extras().layout.annotation_bytes >> 10;
  return services::LimitReached(
      absl::StrCat(kib, " KiB"), "annotations of a recording",
      absl::StrCat(recording, " has ", kib,
                   " KiB of annotations, which is the limit; annotate the next one"));
}

absl::Status AddAnnotations(const FoundRecording& found,
                            std::span<const services::Annotation> annotations,
                            format::Manifest* manifest) {
  const size_t bytes =
      services::model::BytesOf(manifest->annotations) + services::model::BytesOf(annotations);
  if (bytes > found.lun->store->extras().layout.annotation_bytes)
    return NoRoomForAnnotations(found);
  manifest->annotations.insert(manifest->annotations.end(), annotations.begin(), annotations.end());
  return absl::OkStatus();
}

// Those that are not there yet.
std::vector<services::Annotation> Lacking(std::vector<services::Annotation> annotations,
                                          const std::vector<services::Annotation>& there) {
  std::erase_if(annotations, [&](const services::Annotation& one) {
    return std::ranges::find(there, one) != there.end();
  });
  return annotations;
}

}  // namespace

absl::Status MetadataWriter::WriteDown(capture::Caught& caught, const services::Trigger& trigger) {
  std::vector<std::string> to_keep = caught.to_keep;
  for (const auto& [recording, live] : caught.told) {
    if (!live->AwaitNoted()) to_keep.push_back(recording);
  }
  for (const std::string& recording : to_keep) {
    const absl::Status status =
        ActOnceClosed(recordings_, recording, [&] { return Keep(recording, true); });
    if (absl::IsNotFound(status)) {
      LeaveOut(recording, caught);
    } else if (!status.ok()) {
      return status;
    }
  }
  if (caught.to_mark.empty()) return absl::OkStatus();
  const services::Annotation mark{.sample_start = caught.capture.trigger_sample,
                                  .label = trigger.label,
                                  .comment = trigger.comment};
  return Annotate(caught.to_mark, {&mark, 1});
}

absl::Status MetadataWriter::Conclude(const capture::StreamEnd& end) {
  bool goes_on = false;
  const auto change = [&](format::Manifest* manifest) {
    goes_on = manifest->end_time_ns != end.end_time_ns || !manifest->cause.empty();
    if (goes_on) return absl::CancelledError("the stream has gone on");
    recording::ConcludeStream(end.cause, end.early, manifest);
    return absl::OkStatus();
  };
  const absl::Status status = recordings_.Rewrite(end.recording, change).status();
  return goes_on ? absl::OkStatus() : status;
}

absl::Status MetadataWriter::Annotate(const std::string& recording,
                                      std::span<const services::Annotation> annotations) {
  return ActOnceClosed(recordings_, recording, [&] { return Mark(recording, annotations); });
}

absl::StatusOr<services::model::Marked> MetadataWriter::AnnotateStream(
    const std::string& recording, std::span<const services::Annotation> annotations) {
  TD_ASSIGN_OR_RETURN(const auto stream, StreamSegments::Of(recordings_, recording));
  if (!stream.has_value()) {
    TD_RETURN_IF_ERROR(Annotate(recording, annotations));
    return services::model::Marked{.done = annotations.size()};
  }
  const auto add = [this](const auto& name, std::span<const services::Annotation> its) {
    return Annotate(name, its);
  };
  return StreamMarker(*stream, add, dataplane::Deadline::In(kOneCall)).Mark(annotations);
}

absl::Status MetadataWriter::CarrySignal(const catalog::ResourceName& name,
                                         const format::Manifest& manifest) {
  const auto signals = services::sigmf::NewestSignals(manifest.annotations);
  if (manifest.stream.empty() || signals.empty()) return absl::OkStatus();
  TD_ASSIGN_OR_RETURN(const auto segments, SegmentsOf(recordings_, name, manifest.stream));
  const auto next =
      std::ranges::upper_bound(segments, manifest.segment, {}, &StreamSegment::number);
  if (next == segments.end()) return absl::OkStatus();
  const auto to_live = [&](const FoundRecording& found,
                           recording::LiveRecording& live) -> absl::StatusOr<bool> {
    const auto lacking = Lacking(signals, live.notes().annotations);
    if (!live.HasRoomFor(lacking)) return NoRoomForAnnotations(found);
    return live.Annotate(lacking);
  };
  const auto to_closed = [&](const auto& found, format::Manifest* told) {
    return AddAnnotations(found, Lacking(signals, told->annotations), told);
  };
  const std::string recording = next->name.ToString();
  return ActOnceClosed(recordings_, recording,
                       [&] { return recordings_.Note(recording, to_live, to_closed).status(); });
}

absl::Status MetadataWriter::Mark(const std::string& recording,
                                  std::span<const services::Annotation> annotations) {
  const auto to_live = [&](const FoundRecording& found,
                           recording::LiveRecording& live) -> absl::StatusOr<bool> {
    if (!live.HasRoomFor(annotations)) return NoRoomForAnnotations(found);
    return live.Annotate(annotations);
  };
  const auto to_closed = [&](const auto& found, format::Manifest* manifest) {
    return AddAnnotations(found, annotations, manifest);
  };
  return recordings_.Note(recording, to_live, to_closed).status();
}

absl::Status MetadataWriter::Keep(const std::string& recording, bool kept) {
  const auto to_live = [&](const auto&, recording::LiveRecording& live) { return live.Keep(kept); };
  const auto to_closed = [&](const auto&, format::Manifest* manifest) {
    manifest->kept = kept;
    return absl::OkStatus();
  };
  return recordings_.Note(recording, to_live, to_closed).status();
}

}  // namespace tapedeck::storage_node::recordings
