// Reads every block of a recording and checks it, telling the kinds of damage apart.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "dataplane/clock.h"
#include "services/model/seams/catalog.h"
#include "storage_node/format/manifest.h"
#include "storage_node/repair/repair_progress.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::repair {

// What of a recording is read.
struct VerifyScope {
  uint64_t first_block = 0;  // those before count as checked in no report
  bool index_pages = true;   // the header and watermark pages, and the manifest
  // Where blocks have two copies, of each: one that is damaged is written again from the other, and
  // told of here. Null: it is enough that one is good, and nothing is changed.
  std::function<void(const std::vector<CopyDamage>&)> mended;
};

// Waits for the disk, and changes nothing on it but for what is mended. `manifest` is of a sealed
// recording. OK also if damage was found: that is in the reports, the last of which covers all
// blocks. CANCELLED if `report` returned false.
absl::Status VerifyBlocks(store::Store& store, const store::RecordingPath& path,
                          const format::Manifest& manifest, const dataplane::Clock& clock,
                          const std::function<bool(const services::VerifyProgress&)>& report,
                          const VerifyScope& scope = {});

}  // namespace tapedeck::storage_node::repair
