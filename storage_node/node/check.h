// Reads every recording of every LUN, without a node running, and tells what is damaged. Changes
// nothing: neither deletions nor recordings that a crash cut short are finished.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "dataplane/clock.h"

namespace tapedeck::storage_node::node {

struct Finding {
  std::string where;  // luns/{lun}, or luns/{lun}/channels/{channel}/recordings/{recording}[/block]
  // As in format/README.md, and for what is larger than a block: "lun" cannot be opened, "manifest"
  // no copy can be read, "open" not closed yet: the node salvages it at its next start.
  std::string kind;
  std::string detail;
};

struct CheckTotals {
  uint64_t luns = 0;
  uint64_t recordings = 0;
  uint64_t blocks = 0;
  uint64_t damaged = 0;  // blocks, manifests, LUNs
  uint64_t missing = 0;  // blocks known never to have been stored: gaps, not damage
};

// Waits for the disks. FAILED_PRECONDITION (MEMBER_UNUSABLE) names the process that has the state
// directory.
absl::StatusOr<CheckTotals> CheckStorage(const std::string& state_dir,
                                         const dataplane::Clock& clock,
                                         const std::function<void(const Finding&)>& report);

}  // namespace tapedeck::storage_node::node
