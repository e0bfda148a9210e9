// Whether policies would bring a recording back to where it was.
#pragma once

#include "absl/status/status.h"
#include "services/model/seams/catalog.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::moving {

// Follows the channels of that name from one LUN to the next, beginning with `to`, where those of
// `channel` go. INVALID_ARGUMENT (ARGUMENT_INVALID): they would come back. Of a LUN that is offline
// the catalog is believed.
absl::Status CheckNoWayBack(recordings::Recordings& recordings, const services::Channel& channel,
                            catalog::ResourceName to);

}  // namespace tapedeck::storage_node::moving
