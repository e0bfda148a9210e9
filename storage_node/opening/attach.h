// Takes a LUN as its members say it is: after the state directory was lost, or on another machine.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/seams/catalog.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::opening {

// Finds each member's number by what it says, opens the LUN and puts its channels and recordings
// into the catalog; with a member missing it is offline then. Waits for the disk. Returns the LUN's
// name. Any thread. Errors are those of CatalogService.AttachLun; where it fails the members keep
// all they hold.
absl::StatusOr<std::string> AttachLun(recordings::Recordings& recordings,
                                      const services::LunAttachment& asked);

// The LUN that these members say they are of, all of them the same, with their names in it where
// each has its number. Changes nothing; errors are those of AttachLun. Waits for the disk.
absl::StatusOr<services::Lun> DescribedLun(const std::vector<std::string>& members);

// The LUNs that these members are of, each of which is attached unless it is open with them.
absl::Status AttachAll(recordings::Recordings& recordings, const std::vector<std::string>& members);

}  // namespace tapedeck::storage_node::opening
