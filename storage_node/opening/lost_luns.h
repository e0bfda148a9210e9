// Takes LUNs offline whose members vanish while they are open, or whose disks take nothing any
// more.
#pragma once

#include "absl/time/time.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::opening {

// With it a member is missed within a second.
inline constexpr absl::Duration kLostLunsPeriod = absl::Milliseconds(500);

// One round: looks at the members of each LUN on a thread of that LUN's own, so that a disk which
// hangs holds up nobody else's.
void LookForLostLuns(luns::Luns& luns);

}  // namespace tapedeck::storage_node::opening
