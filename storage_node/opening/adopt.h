// A recording that lies on the members of a LUN that is being opened, and that the catalog does not
// know, or knows as unfinished.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::opening {

// Puts it into the catalog as its files say, salvaged if nobody has closed it. `known`: what the
// catalog has of it; null: nothing. One that was cut off before it had a block is deleted, once all
// of it was read. One that neither manifest nor index tells of is named in the log, and stays as it
// is. Nobody else sees the LUN yet. Waits for the disk.
absl::Status Adopt(recordings::Recordings& recordings, const catalog::ResourceName& name,
                   const format::Manifest* known, luns::OpenLun& lun);

// Deletes what is there of a recording, and its row. `why` is for the log. Waits for the disk.
absl::Status DeleteInterrupted(recordings::Recordings& recordings, luns::OpenLun& lun,
                               const store::RecordingPath& path, const catalog::ResourceName& name,
                               absl::string_view why);

}  // namespace tapedeck::storage_node::opening
