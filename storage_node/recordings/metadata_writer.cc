#include "storage_node/recordings/metadata_writer.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dataplane/deadline.h"
#include "dataplane/status_macros.h"
#include "services/base/errors.h"
#include "services/model/recording/recording.h"
#include "services/signal/sigmf/text.h"
#include "storage_node/recording/writing/ending.h"
#include "storage_node/recordings/stream_segments.h"

namespace tapedeck::storage_node::recordings {
namespace {

// Adds annotations of a stream to the segments that have their samples.
// Of one call; one thread. Each segment's file is written anew, so a call goes on until its
// deadline, with one at least, and its caller asks again.
class StreamMarker {
 public:
  // Adds all or none. NOT_FOUND: the recording is gone.
  using Add = std::function<absl::Status(const std::string& recording,
                                         std::span<const services::Annotation> annotations)>;

  StreamMarker(const StreamSegments& segments, Add add, dataplane::Deadline deadline)
      : segments_(segments), add_(std::move(add)), deadline_(deadline) {}

  // An error is of the first one, and nothing was added.
  absl::StatusOr<services::model::Marked> Mark(std::span<const services::Annotation> annotations);

 private:
  // The first ones, as long as they lie in one segment.
  absl::Status MarkRun(const std::string& recording,
                       std::span<const services::Annotation> annotations);
  // One that lies in several, as many of them as the time allows.
  absl::Status MarkEach(const StreamSegments::Pieces& pieces);

  const StreamSegments& segments_;
  const Add add_;
  const dataplane::Deadline deadline_;
  services::model::Marked marked_;
};

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
                   " KiB of annotations, the limit; annotate another recording"));
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

absl::StatusOr<services::model::Marked> StreamMarker::Mark(
    std::span<const services::Annotation> annotations) {
  while (marked_.done < annotations.size() && marked_.next_sample == 0) {
    const auto rest = annotations.subspan(marked_.done);
    const auto pieces = segments_.PiecesOf(rest.front());
    absl::Status status = pieces.status();
    if (status.ok() && pieces->there.size() == 1 && pieces->to_come == 0) {
      status = MarkRun(pieces->there.front().recording, rest);
    } else if (status.ok()) {
      status = MarkEach(*pieces);
    }
    const bool first = marked_.done == 0 && marked_.next_sample == 0;
    if (!status.ok() && first) return status;
    if (!status.ok() || deadline_.passed()) break;
  }
  return marked_;
}

absl::Status StreamMarker::MarkRun(const std::string& recording,
                                   std::span<const services::Annotation> annotations) {
  std::vector<services::Annotation> run;
  for (const services::Annotation& one : annotations) {
    const auto pieces = segments_.PiecesOf(one);
    if (!pieces.ok() || pieces->there.size() != 1 || pieces->to_come != 0) break;
    if (pieces->there.front().recording != recording) break;
    run.push_back(pieces->there.front().annotation);
  }
  absl::Status status = add_(recording, run);
  while (absl::IsResourceExhausted(status) && run.size() > 1) {
    run.resize(run.size() / 2);
    status = add_(recording, run);
  }
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  marked_.done += run.size();
  if (!status.ok()) marked_.left_out += run.size();
  return absl::OkStatus();
}

absl::Status StreamMarker::MarkEach(const StreamSegments::Pieces& pieces) {
  bool any = false;
  for (const StreamSegments::Piece& piece : pieces.there) {
    if (any && deadline_.passed()) {
      marked_.next_sample = piece.annotation.sample_start;
      return absl::OkStatus();
    }
    const absl::Status status = add_(piece.recording, {&piece.annotation, 1});
    if (!status.ok() && !absl::IsNotFound(status)) {
      if (any) marked_.next_sample = piece.annotation.sample_start;
      return status;
    }
    any = any || status.ok();
  }
  marked_.next_sample = pieces.to_come;
  if (pieces.to_come != 0) return absl::OkStatus();
  ++marked_.done;
  if (!any) ++marked_.left_out;
  return absl::OkStatus();
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
    if (goes_on) return absl::CancelledError("the stream continues");
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
