// Deletion in two steps, and what a start finds on the members after a crash.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/store/known.h"

namespace tapedeck::storage_node::store {

// Any thread; waits for the disk. The base is that of a store that ends with its process: it finds
// nothing.
class Recovery {
 public:
  virtual ~Recovery() = default;

  // Durably notes that a deletion was ordered; the rest stays. The first step where a deletion
  // takes several stores. OK if there is no such recording.
  virtual absl::Status BeginDeletion(const RecordingPath& /*path*/) { return absl::OkStatus(); }

  // The recordings that BeginDeletion has noted and that are still there, in part or whole:
  // Store::DeleteRecording ends what a crash has interrupted.
  virtual absl::StatusOr<std::vector<RecordingPath>> BegunDeletions(const Known& /*known*/) {
    return std::vector<RecordingPath>();
  }

  // Removes what a crash left of deleted recordings, which are not listed.
  virtual absl::Status FinishDeletions(const Known& /*known*/) { return absl::OkStatus(); }

  // Channels that `known` lacks and that have recordings of the LUN.
  virtual absl::StatusOr<std::vector<std::string>> UnknownChannels(const Known& /*known*/) {
    return std::vector<std::string>();
  }

  // One that finds nothing.
  static Recovery* None() {
    static auto* const none = new Recovery();
    return none;
  }
};

}  // namespace tapedeck::storage_node::store
