// Opens the LUNs that are offline once their members are there: a mount that came late or again, a
// drive that was plugged in again, a lock that another process has let go.
#pragma once

#include "absl/time/time.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::opening {

inline constexpr absl::Duration kLateLunsPeriod = absl::Seconds(2);

// One round: each is tried on a thread of that LUN's own, unless the last try is not done.
void TryLateLuns(recordings::Recordings& recordings);

}  // namespace tapedeck::storage_node::opening
