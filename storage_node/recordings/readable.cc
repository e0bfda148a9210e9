#include "storage_node/recordings/readable.h"

#include <optional>
#include <utility>

#include "dataplane/status_macros.h"

namespace tapedeck::storage_node::recordings {
namespace {

// None if nobody writes it any more.
std::optional<Readable> FindGrowing(Recordings& recordings, const FoundRecording& found) {
  const std::string name = found.name.ToString();
  auto live = recordings.live().Find(name);
  if (live == nullptr) return std::nullopt;
  auto lease = recordings.leases().TakeBeside(name);
  if (lease == nullptr || live->closed() != nullptr) return std::nullopt;
  Readable readable{.recording = found, .live = std::move(live), .lease = std::move(lease)};
  readable.recording.manifest.start_time_ns = readable.live->start_time_ns();
  return readable;
}

}  // namespace

absl::StatusOr<Readable> FindReadable(Recordings& recordings, const std::string& name,
                                      bool growing) {
  TD_ASSIGN_OR_RETURN(FoundRecording found, recordings.FindClosed(name));
  if (growing) {
    auto readable = FindGrowing(recordings, found);
    if (readable.has_value()) return *std::move(readable);
  }
  auto lease = recordings.leases().TakeShared(name);
  if (lease == nullptr) {
    return Busy(found, growing ? "is being closed or deleted; try again"
                               : "is still being written (tapectl play --follow plays it), or is "
                                 "being deleted");
  }
  // Only under the lease is it sure that it stays.
  TD_ASSIGN_OR_RETURN(found, recordings.Find(name));
  if (found.manifest.state == services::RecordingState::kRecording) {
    return Busy(found, "was not closed yet; try again");
  }
  return Readable{.recording = std::move(found), .lease = std::move(lease)};
}

}  // namespace tapedeck::storage_node::recordings
