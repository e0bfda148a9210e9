// Opens LUNs, makes the catalog agree with their files, and closes recordings that a crash left
// open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::opening {

// Only what carries the LUN's mark below one of its channels is adopted or deleted; the store names
// the rest in the log. Waits for the disk. What the catalog holds and the files do not is removed,
// what the files hold and the catalog does not is read from them. An empty catalog is thereby
// rebuilt. Nobody else knows the LUN until it is in recordings.luns(), which it is only if all went
// well. Recordings that were cut off are salvaged, under leases of their own: so nobody may hold
// the LUN exclusively. `progress` hears before each recording how many of all have been seen to.
using OpeningProgress = std::function<void(uint64_t done, uint64_t all)>;
absl::Status OpenLunAndReconcile(recordings::Recordings& recordings, const services::Lun& config,
                                 const OpeningProgress& progress = nullptr);

// Held by whoever opens a LUN that others may see: nobody else opens, makes or deletes it then.
struct OpeningLease {
  std::unique_ptr<recordings::Leases::Lease> alone;   // among those that open it
  std::unique_ptr<recordings::Leases::Lease> beside;  // those that use what is below it
  explicit operator bool() const { return alone != nullptr && beside != nullptr; }
};
// False if somebody else has it, or the LUN. `name`: luns/{lun}.
OpeningLease TakeOpening(recordings::Recordings& recordings, const std::string& name);

// Held by whoever changes what an opening reads, beside others who do: nobody opens the LUN then.
// Null if somebody does.
std::unique_ptr<recordings::Leases::Lease> TakeNoOpening(recordings::Recordings& recordings,
                                                         const std::string& name);

// Removes from the catalog what belongs to LUNs that the node does not have. If it cannot be read,
// the next start does it.
void ForgetLuns(recordings::Recordings& recordings);

// Start-up: every LUN, as the state directory has them. One that cannot be opened is offline, and
// what the catalog knows of it stays.
absl::Status OpenLunsAndReconcile(recordings::Recordings& recordings,
                                  const std::vector<services::Lun>& luns);

}  // namespace tapedeck::storage_node::opening
