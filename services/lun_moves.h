// How a LUN that is there already comes to a storage node, and leaves it: part of the seam in
// catalog.h.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "services/model/lun.h"

namespace tapedeck::services {

struct LunAttachment {
  std::vector<std::string> members;  // in any order
  std::string name;                  // luns/{lun}; empty: as the members say
  bool as_new = false;               // a copy becomes a LUN of its own, under `name`
};

// Any thread; each call waits for the LUN's disks.
class LunMoves {
 public:
  virtual ~LunMoves() = default;
  // With a name, the same `request_id` gives the same result; it may be empty.
  virtual absl::StatusOr<Lun> AttachLun(const LunAttachment& asked,
                                        const std::string& request_id) = 0;
  virtual absl::Status DetachLun(const std::string& name) = 0;
};

}  // namespace tapedeck::services
