#include "storage_node/recordings/owners.h"

#include <cstdint>
#include <functional>
#include <unordered_set>

#include "absl/status/status.h"
#include "dataplane/clock.h"
#include "dataplane/log.h"
#include "dataplane/status_macros.h"
#include "storage_node/format/manifest.h"
#include "storage_node/recording/await_block.h"
#include "storage_node/recordings/recordings.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::recordings {
namespace {

constexpr uint64_t kEntriesAtATime = 256;

// Which blocks of a recording hold given payloads, by their CRCs: to find whose bytes lie where
// another block should.
struct PayloadSearch {
  std::unordered_set<uint32_t> crcs;
  // Of each block whose payload has one of them.
  std::function<void(uint32_t crc, uint64_t block)> found;
  // Before so many bytes of index are read; false to stop.
  std::function<bool(uint64_t bytes)> pace;
};

// Waits for the disk; reads the index alone. `manifest` is of a closed recording, which the caller
// protects from deletion. Entries that cannot be read are passed over. CANCELLED if `pace` said so.
absl::Status FindPayloads(store::Store& store, const store::RecordingPath& path,
                          const format::Manifest& manifest, const dataplane::Clock& clock,
                          const PayloadSearch& search) {
  recording::CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const auto files, store.Open(path, {}, loop));
  const format::EntryFormat entries = manifest.entries();
  index::IndexReader index(*files, entries, [] {});
  for (uint64_t block = 0; block < manifest.blocks; ++block) {
    if (block % kEntriesAtATime == 0 && !search.pace(kEntriesAtATime * entries.entry_bytes)) {
      return absl::CancelledError("search stopped");
    }
    const auto& entry = recording::AwaitEntry(loop, index, block);
    if (!entry.ok() || entry->payload_bytes == 0) continue;
    const uint32_t crc = entry->payload_crc32c;
    if (search.crcs.contains(crc)) search.found(crc, block);
  }
  return absl::OkStatus();
}

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
  return FindPayloads(*found.lun->store, found.path(), found.manifest, recordings.luns().clock(),
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
