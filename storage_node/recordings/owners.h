// Whose bytes are these: looks through the closed recordings of a LUN for payloads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>

#include "absl/status/status.h"
#include "storage_node/recordings/recordings.h"

namespace tapedeck::storage_node::recordings {

struct OwnerSearch {
  std::string lun;  // ID
  std::unordered_set<uint32_t> crcs;
  // Of each block whose payload has one of them.
  std::function<void(uint32_t crc, const std::string& recording, uint64_t block)> found;
  // Before so many bytes of index are read; false to stop.
  std::function<bool(uint64_t bytes)> pace;
};

// Waits for the disk. What cannot be read is logged and passed over. CANCELLED if `pace` said so.
absl::Status FindOwners(Recordings& recordings, const OwnerSearch& search);

}  // namespace tapedeck::storage_node::recordings
