// Whether a scrub has been over all of a LUN that keeps two copies: then both are whole again.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::scrub {

// Of one scrub, on its thread.
class WholeCopies {
 public:
  explicit WholeCopies(recordings::Recordings& recordings) : recordings_(recordings) {}

  // It begins with the first recording of all.
  void Begin(const catalog::ResourceName& scope);
  // Something of it was left out that nobody is writing.
  void Miss() { missed_ = true; }

  // It has ended; `repaired`: with nothing that could not be. OK where there is nothing to say,
  // too.
  absl::Status Conclude(bool repaired);

 private:
  recordings::Recordings& recordings_;
  std::string lun_;
  // It may be offline, and opened again, meanwhile.
  std::weak_ptr<luns::OpenLun> open_;
  uint64_t omissions_ = 0;
  bool missed_ = false;
};

}  // namespace tapedeck::storage_node::scrub
