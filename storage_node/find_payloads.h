// Which blocks of a recording hold given payloads, by their CRCs: to find whose bytes lie where
// another block should.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_set>

#include "absl/status/status.h"
#include "dataplane/clock.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node {

// Waits for the disk; reads the index alone. Calls `found` for each block whose payload has one of
// `crcs`. `manifest` is of a closed recording, which the caller protects from deletion. Entries
// that cannot be read are passed over.
absl::Status FindPayloads(store::Store& store, const store::RecordingPath& path,
                          const format::Manifest& manifest, const dataplane::Clock& clock,
                          const std::unordered_set<uint32_t>& crcs,
                          const std::function<void(uint32_t crc, uint64_t block)>& found);

}  // namespace tapedeck::storage_node
