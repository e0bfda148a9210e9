#include "storage_node/repair/find_payloads.h"

#include "dataplane/status_macros.h"
#include "storage_node/recording/await_block.h"

namespace tapedeck::storage_node::repair {
namespace {

constexpr uint64_t kEntriesAtATime = 256;

}  // namespace

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

}  // namespace tapedeck::storage_node::repair
