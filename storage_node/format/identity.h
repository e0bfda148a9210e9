// Who a block is: the values its check value is seeded with. A reader fills them in from what it
// asked for, never from what it found, so that an old or misplaced block cannot vouch for itself.
#pragma once

#include <cstdint>
#include <string>

#include "storage_node/format/uuid.h"

namespace tapedeck::storage_node::format {

// Where a block's payload lies: block i is on member i % n at (i / n) * block_bytes.
struct Place {
  uint32_t member = 0;
  uint64_t offset = 0;
  bool operator==(const Place&) const = default;
};

Place PlaceOf(uint64_t sequence, uint64_t block_bytes, uint32_t members);

// What all blocks of a recording share.
struct RecordingIdentity {
  Uuid lun;
  Uuid recording;
  std::string channel;
  // Random per recording: tells the data of this allocation from that of an earlier one at the same
  // place.
  uint32_t epoch = 0;
};

// CRC32C(identity ‖ payload), from the payload's plain CRC: the payload is not read again.
uint32_t CheckValue(const RecordingIdentity& identity, uint64_t sequence, Place place,
                    uint32_t payload_crc32c, uint32_t payload_bytes);

}  // namespace tapedeck::storage_node::format
