// The rounds that see LUNs come and go.
#pragma once

#include "absl/time/time.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::opening {

inline constexpr absl::Duration kLateLunsPeriod = absl::Seconds(2);

// Opens the LUNs that are offline once their members are there: a mount that came late or again, a
// drive that was plugged in again, a lock that another process has let go. Each is tried on a
// thread of that LUN's own, unless the last try is not done.
void TryLateLuns(recordings::Recordings& recordings);

// With it a member is missed within a second.
inline constexpr absl::Duration kLostLunsPeriod = absl::Milliseconds(500);

// Takes LUNs offline whose members vanish while they are open, or whose disks take nothing any
// more. Looks at the members of each on a thread of that LUN's own, so that a disk which hangs
// holds up nobody else's.
void LookForLostLuns(luns::Luns& luns);

}  // namespace tapedeck::storage_node::opening
