// The layout of a device, byte by byte; README.md has the tables. Everything is little-endian and
// checks itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/format/uuid.h"
#include "storage_node/store/device/pages.h"
#include "storage_node/store/store.h"

namespace tapedeck::storage_node::store::device {

inline constexpr uint64_t kUnitBytes = 4 << 20;
inline constexpr uint64_t kHeadBytes = 1 << 20;   // superblock, holder, lun.json
inline constexpr uint64_t kTailBytes = 64 << 10;  // the other superblock, in its last page
inline constexpr uint64_t kSlotBytes = 64 << 10;  // one copy of a slot
inline constexpr uint64_t kMinDeviceBytes = 64 << 20;
inline constexpr uint64_t kHolderOffset = kPageBytes;  // a line: who has the device open
inline constexpr uint64_t kLunOffset = 2 * kPageBytes;
inline constexpr uint64_t kLunBytes = 56 << 10;
// They leave three quarters of a slot to the manifest.
inline constexpr size_t kMaxRuns = 2048;

struct Superblock {
  format::Uuid lun;
  // Random for each LUN made here: slots of another one are no slots.
  format::Uuid stamp;
  uint32_t member = 0;
  uint32_t slots = 0;
  uint64_t device_bytes = 0;
  // Every slot was written when the device was made: one without a sound copy has lost it. False on
  // devices that were made before this was so.
  bool has_all_slots = false;

  // Of a device of this size; slots grow with it.
  static uint32_t SlotsFor(uint64_t device_bytes);

  uint64_t end_copy_offset() const { return device_bytes - kPageBytes; }
  uint64_t SlotOffset(uint32_t slot, uint32_t copy) const {
    return kHeadBytes + (uint64_t{slot} * 2 + copy) * kSlotBytes;
  }
  uint64_t units_offset() const;
  uint32_t units() const;
  uint64_t UnitOffset(uint32_t unit) const { return units_offset() + unit * kUnitBytes; }
};

Pages EncodeSuperblock(const Superblock& superblock);
// `page` is all of it. NOT_FOUND: not a superblock. DATA_LOSS: a damaged one, of another version,
// or with values that no device has.
absl::StatusOr<Superblock> DecodeSuperblock(std::span<const std::byte> page);

// Units that follow each other.
struct Run {
  uint32_t first = 0;
  uint32_t count = 0;
  bool operator==(const Run&) const = default;
};
using Runs = std::vector<Run>;

uint32_t UnitsOf(const Runs& runs);
// Adds `more` at the end, as one run with the last where they meet.
void Append(Runs* runs, const Runs& more);
// Cuts to `units` and returns what is cut off.
Runs CutTo(Runs* runs, uint32_t units);

// A recording, or that there is none.
struct SlotRecord {
  uint64_t generation = 0;
  bool live = false;
  bool deleting = false;  // live, and its deletion was ordered
  RecordingPath path;
  Runs data;
  Runs index;
  uint64_t data_bytes = 0;   // the end of the payload: that of the units until it is cut
  uint64_t index_bytes = 0;  // likewise
  std::string manifest;      // empty: none yet
  bool operator==(const SlotRecord&) const = default;
};

// Where a copy of a slot lies; it vouches for no other place.
struct SlotPlace {
  format::Uuid stamp;
  uint32_t slot = 0;
  uint32_t copy = 0;
};

// RESOURCE_EXHAUSTED if it takes more than kSlotBytes.
absl::StatusOr<Pages> EncodeSlot(const SlotRecord& record, const SlotPlace& place);
// The bytes a slot takes, from its first page; 0 if that is of no slot of this LUN.
size_t SlotLength(std::span<const std::byte> first_page, const SlotPlace& place);
// DATA_LOSS: it is not what was written there, or speaks of units, bytes or names that no recording
// on a device of so many units has. `bytes`: at least a page.
absl::StatusOr<SlotRecord> DecodeSlot(std::span<const std::byte> bytes, const SlotPlace& place,
                                      uint32_t units);

}  // namespace tapedeck::storage_node::store::device
