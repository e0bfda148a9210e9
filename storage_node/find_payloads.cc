#include "storage_node/find_payloads.h"

#include "dataplane/status_macros.h"
#include "storage_node/caller_loop.h"
#include "storage_node/index_reader.h"

namespace tapedeck::storage_node {

absl::Status FindPayloads(store::Store& store, const store::RecordingPath& path,
                          const format::Manifest& manifest, const dataplane::Clock& clock,
                          const std::unordered_set<uint32_t>& crcs,
                          const std::function<void(uint32_t crc, uint64_t block)>& found) {
  CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const auto files, store.OpenRecording(path, loop));
  IndexReader index(*files, manifest.entries(), [] {});
  for (uint64_t block = 0; block < manifest.blocks; ++block) {
    const absl::StatusOr<format::IndexEntry>* entry = nullptr;
    loop.RunUntil([&] {
      entry = index.Find(block);
      return entry != nullptr;
    });
    if (!entry->ok() || (*entry)->payload_bytes == 0) continue;
    if (const uint32_t crc = (*entry)->payload_crc32c; crcs.contains(crc)) found(crc, block);
  }
  return absl::OkStatus();
}

}  // namespace tapedeck::storage_node
