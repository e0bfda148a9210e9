// The slots of a device. Each describes one recording, in two copies that the store writes in turn.
// So a slot is old or new after any crash.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/store/device/device.h"
#include "storage_node/store/device/layout.h"

namespace tapedeck::storage_node::store::device {

// Owned by the store. Any thread; Write waits for the device.
class SlotTable {
 public:
  // Reads all slots. Those without a copy that can be read are left alone for good.
  static absl::StatusOr<std::unique_ptr<SlotTable>> Load(Device& device,
                                                         const Superblock& superblock);

  // Of a device that is being made. Durable when it returns.
  static absl::Status WriteAllFree(Device& device, const Superblock& superblock);
  // Of one that is a member no longer: what WriteAllFree wrote is zeros again. Durable when it
  // returns.
  static absl::Status Erase(Device& device, const Superblock& superblock);

  // What Load found, once.
  std::vector<std::pair<uint32_t, SlotRecord>> TakeLive() { return std::move(live_); }
  // Slots that cannot be read: what they held is not known.
  const std::vector<uint32_t>& damaged() const { return damaged_; }
  uint32_t slots() const { return superblock_.slots; }

  // A slot of no recording.
  std::optional<uint32_t> TakeSlot();
  void ReturnSlot(uint32_t slot);

  // Durable when it returns; after an error the slot is old or new. The generation is set here.
  // One thread at a time for each slot.
  absl::Status Write(uint32_t slot, SlotRecord record);

  // The same for both copies, one after the other: whichever of them is lost later, the other has
  // these units.
  absl::Status WriteBoth(uint32_t slot, const SlotRecord& record);

 private:
  SlotTable(Device& device, const Superblock& superblock)
      : device_(device), superblock_(superblock), generations_(superblock.slots) {}
  absl::Status LoadSlot(uint32_t slot);
  // None: it was never written for this LUN. DATA_LOSS: damaged.
  absl::StatusOr<std::optional<SlotRecord>> ReadCopy(uint32_t slot, uint32_t copy);

  Device& device_;
  const Superblock superblock_;
  std::vector<std::pair<uint32_t, SlotRecord>> live_;
  std::vector<uint32_t> damaged_;
  absl::Mutex mutex_;
  std::vector<uint64_t> generations_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint32_t> free_ ABSL_GUARDED_BY(mutex_);  // the next to be given last
};

}  // namespace tapedeck::storage_node::store::device
