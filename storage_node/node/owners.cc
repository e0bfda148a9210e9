#include "storage_node/node/owners.h"

#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/find_payloads.h"
#include "storage_node/node/recordings.h"

namespace tapedeck::storage_node {
namespace {

// The bytes of index that were read.
absl::StatusOr<uint64_t> SearchOne(NodeParts& parts, const OwnerSearch& search,
                                   const std::string& recording) {
  const auto lease = parts.leases->TakeShared(recording);
  TD_ASSIGN_OR_RETURN(const FoundRecording found, FindRecording(parts, recording));
  if (lease == nullptr || found.manifest.state == services::RecordingState::kRecording) {
    return Busy(found, "is still being written");
  }
  TD_RETURN_IF_ERROR(FindPayloads(
      *found.lun->store, found.path(), found.manifest, *parts.settings.clock, search.crcs,
      [&](uint32_t crc, uint64_t block) { search.found(crc, recording, block); }));
  return found.manifest.blocks * found.manifest.entries().entry_bytes;
}

}  // namespace

absl::Status FindOwners(NodeParts& parts, const OwnerSearch& search) {
  TD_ASSIGN_OR_RETURN(const auto rows,
                      parts.catalog->ListRecordings({.lun = search.lun, .channel = "-"}));
  for (const catalog::RecordingRow& row : rows) {
    const std::string recording = row.name.ToString();
    const auto bytes = SearchOne(parts, search, recording);
    if (bytes.ok() && !search.pace(*bytes)) return absl::CancelledError("search stopped");
    // Deleted, or still being written.
    const bool gone =
        absl::IsNotFound(bytes.status()) || absl::IsFailedPrecondition(bytes.status());
    if (bytes.ok() || gone) continue;
    dataplane::Log(dataplane::LogLevel::kWarning, "scrub", "owners not looked for",
                   {{"recording", recording}, {"error", std::string(bytes.status().message())}});
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node
