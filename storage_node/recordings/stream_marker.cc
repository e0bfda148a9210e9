#include "storage_node/recordings/stream_marker.h"

#include <utility>
#include <vector>

#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::recordings {

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

}  // namespace tapedeck::storage_node::recordings
