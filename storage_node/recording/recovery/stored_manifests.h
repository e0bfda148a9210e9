// The copies of a recording's manifest, as its members have them.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/format/index.h"
#include "storage_node/format/manifest.h"
#include "storage_node/recording/caller_loop.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::recording {

struct Manifests {
  // The one of the highest generation. NOT_FOUND: there is no copy, or those there are hold no
  // byte, as a file system leaves them. DATA_LOSS: no copy is good.
  absl::StatusOr<format::Manifest> newest;
  std::vector<bool> lacking;  // by copy
  // One copy is damaged, and so is each of the others that is there: none can be of use to anybody.
  bool all_damaged = false;

  // Whether one of the first so many members lacks it: those that a LUN got since have none.
  bool LackOn(uint32_t members) const;
};

// Waits for the disk.
Manifests ReadManifests(CallerLoop& loop, store::RecordingFiles& files);

// DATA_LOSS if the index says another number of members: on how many a recording lies decides what
// is given back there, and its LUN may have got more since. `header`: none is sound.
absl::Status CheckMembers(const std::optional<format::IndexHeader>& header,
                          const format::Manifest& manifest);

}  // namespace tapedeck::storage_node::recording
