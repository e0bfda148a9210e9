#include "storage_node/recordings/owners.h"

#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/recordings/recordings.h"
#include "storage_node/repair/find_payloads.h"

namespace tapedeck::storage_node::recordings {
namespace {

absl::Status SearchOne(Recordings& recordings, const OwnerSearch& search,
                       const std::string& recording) {
  const auto lease = recordings.leases().TakeShared(recording);
  TD_ASSIGN_OR_RETURN(const FoundRecording found, recordings.Find(recording));
  if (lease == nullptr || found.manifest.state == services::RecordingState::kRecording) {
    return Busy(found, "is still being written");
  }
  const auto found_block = [&](uint32_t crc, uint64_t block) {
    search.found(crc, recording, block);
  };
  return repair::FindPayloads(*found.lun->store, found.path(), found.manifest,
                              recordings.luns().clock(),
                              {.crcs = search.crcs, .found = found_block, .pace = search.pace});
}

}  // namespace

absl::Status FindOwners(Recordings& recordings, const OwnerSearch& search) {
  TD_ASSIGN_OR_RETURN(const auto rows,
                      recordings.catalog()->ListRecordings({.lun = search.lun, .channel = "-"}));
  for (const catalog::RecordingRow& row : rows) {
    const std::string recording = row.name.ToString();
    const absl::Status status = SearchOne(recordings, search, recording);
    if (absl::IsCancelled(status)) return status;
    // Deleted, or still being written.
    if (status.ok() || absl::IsNotFound(status) || absl::IsFailedPrecondition(status)) continue;
    dataplane::Log(dataplane::LogLevel::kWarning, "scrub", "owners not looked for",
                   {{"recording", recording}, {"error", std::string(status.message())}});
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node::recordings
