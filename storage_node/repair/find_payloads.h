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

namespace tapedeck::storage_node::repair {

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
                          const PayloadSearch& search);

}  // namespace tapedeck::storage_node::repair
