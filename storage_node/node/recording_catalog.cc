#include "storage_node/node/recording_catalog.h"

#include <utility>

#include "dataplane/status_macros.h"
#include "storage_node/node/recordings.h"
#include "storage_node/verify.h"

namespace tapedeck::storage_node {
namespace {

constexpr char kAbandoned[] = "ABORTED: the session ended without closing the recording";

}  // namespace

absl::StatusOr<services::Recording> RecordingService::GetRecording(const std::string& name) {
  TD_ASSIGN_OR_RETURN(FoundRecording found, FindRecording(parts_, name));
  return Present(parts_, {.name = found.name, .manifest = std::move(found.manifest)});
}

absl::StatusOr<std::vector<services::Recording>> RecordingService::RecordingsAfter(
    const std::string& parent, const services::RecordingKey& after, size_t most) {
  TD_ASSIGN_OR_RETURN(const ResourceName name, ParseChannelName(parent, Wildcard::kAllowed));
  if (name.lun != "-") TD_RETURN_IF_ERROR(parts_.luns.CheckExists(name.lun));
  if (name.lun != "-" && name.channel != "-")
    TD_RETURN_IF_ERROR(FindChannel(parts_, name).status());
  catalog::RowKey place{.start_ns = after.start_time_ns};
  if (!after.name.empty()) {
    TD_ASSIGN_OR_RETURN(place.name, ParseRecordingName(after.name));
  }
  TD_ASSIGN_OR_RETURN(auto rows, parts_.catalog->RecordingsAfter(name, place, most));
  std::vector<services::Recording> recordings;
  for (catalog::RecordingRow& row : rows) {
    // What cannot be closed now is shown as it is: GetRecording says why.
    const auto lun = parts_.luns.Find(row.name.lun);
    if (lun.ok()) CloseAbandoned(parts_, **lun, &row, kAbandoned).IgnoreError();
    recordings.push_back(Present(parts_, row));
  }
  return recordings;
}

absl::Status RecordingService::DeleteRecording(const std::string& name) {
  TD_ASSIGN_OR_RETURN(const FoundRecording found, FindRecording(parts_, name));
  TD_ASSIGN_OR_RETURN(const bool removed,
                      RemoveRecording(parts_, found.name, *found.lun, "asked for"));
  if (!removed) return Busy(found, "is being written or played; end that session first");
  return absl::OkStatus();
}

absl::Status RecordingService::VerifyRecording(
    const std::string& name, const std::function<bool(const services::VerifyProgress&)>& report) {
  TD_ASSIGN_OR_RETURN(FoundRecording found, FindRecording(parts_, name));
  const auto lease = parts_.leases->TakeShared(name);
  if (lease == nullptr) return Busy(found, "is still being written");
  TD_ASSIGN_OR_RETURN(found, FindRecording(parts_, name));
  if (found.manifest.state == services::RecordingState::kRecording) {
    return Busy(found, "was not closed yet; try again");
  }
  return VerifyBlocks(*found.lun->store, found.path(), found.manifest, *parts_.settings.clock,
                      report);
}

}  // namespace tapedeck::storage_node
