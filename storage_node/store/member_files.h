// The files that members keep beside recordings: the LUN's description and spare files.
#pragma once

#include "absl/status/status.h"
#include "services/model/seams/catalog.h"

namespace tapedeck::storage_node::store {

// One thread at a time; waits for the disk. The base is that of members that are no directories: it
// writes nothing.
class MemberFiles {
 public:
  virtual ~MemberFiles() = default;

  // Durably writes the LUN's description onto each member that does not have it yet. After a crash
  // a member has the old one or the new one.
  virtual absl::Status Describe(const services::Lun& /*lun*/) { return absl::OkStatus(); }

  // From now on keeps as many files as the LUN says, written before recordings need them, where
  // members can (Capabilities::prewrites). After Describe with the same LUN.
  virtual void Prewrite(const services::Lun& /*lun*/) {}

  // One that writes nothing.
  static MemberFiles* None() {
    static auto* const none = new MemberFiles();
    return none;
  }
};

}  // namespace tapedeck::storage_node::store
