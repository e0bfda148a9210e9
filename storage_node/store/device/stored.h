// A recording as it lies on a device: its slot, its units, its index.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/store/device/device.h"
#include "storage_node/store/device/layout.h"
#include "storage_node/store/device/space.h"
#include "storage_node/store/device/table.h"

namespace tapedeck::storage_node::store::device {

// Bytes that lie together on the device.
struct Piece {
  uint64_t offset = 0;
  size_t bytes = 0;
};

// Held by shared_ptr: by the store until it is deleted, by open files and by each of their
// operations. Any thread; what waits for the device says so.
class StoredRecording {
 public:
  // The store's, which outlives it.
  struct Parts {
    Device& device;
    SlotTable& table;
    Space& space;
    Superblock superblock;
  };

  // Of a slot that was read, or was just taken: then the first change of it makes it durable.
  StoredRecording(const Parts& parts, uint32_t slot, SlotRecord record);

  Device& device() const { return parts_.device; }
  std::string name() const { return path_.channel + "/" + path_.recording; }

  // Units are given in steps: each costs a flush, which no write should wait for.
  static uint64_t StepBytes(uint64_t data_bytes);
  // Up to where payload may be written.
  uint64_t room() const { return room_; }
  // Waits. Gives room up to `end`, and a step more if there is one. RESOURCE_EXHAUSTED (LUN_FULL).
  absl::Status GrowData(uint64_t end);

  // Where payload is to be written, which EndWrite must follow: as long as a write is under way its
  // units belong to nobody else. An error where there is no room (any more).
  absl::StatusOr<std::vector<Piece>> StartWrite(uint64_t offset, uint64_t bytes);
  void EndWrite();
  // Where `bytes` of payload lie, filled up to whole pages.
  absl::StatusOr<std::vector<Piece>> FindData(uint64_t offset, uint64_t bytes) const;

  // These wait. The index is read and written on one thread.
  absl::Status WriteIndex(std::span<const std::byte> bytes, uint64_t offset);
  absl::StatusOr<size_t> ReadIndex(std::span<std::byte> into, uint64_t offset) const;
  absl::Status Trim(uint64_t data_bytes, uint64_t index_bytes);
  absl::Status WriteManifest(std::string text);
  absl::StatusOr<std::string> ReadManifest() const;
  absl::Status BeginDeletion();
  bool is_being_deleted() const { return record().deleting; }
  // Once it is gone nothing changes it any more. Its slot and units are free when this returns.
  absl::Status Delete();

 private:
  SlotRecord record() const;
  absl::Status CheckThere() const;
  absl::Status Gone() const;
  // Makes the slot say so, durably.
  absl::Status Update(SlotRecord next) ABSL_EXCLUSIVE_LOCKS_REQUIRED(update_mutex_);
  // Units that follow `runs` up to `end`, and a step if there is one.
  absl::StatusOr<Runs> Allocate(const Runs& runs, uint64_t end, uint64_t step) const;
  absl::Status GrowIndex(uint64_t end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(index_mutex_, update_mutex_);
  absl::Status ZeroUnits(const Runs& runs) const;
  absl::Status PutIndex(std::span<const std::byte> bytes, uint64_t offset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(index_mutex_);
  absl::Status LoadPage(std::span<std::byte> into, uint64_t offset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(index_mutex_);
  void KeepPage(std::span<const std::byte> page, uint64_t offset)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(index_mutex_);
  std::vector<Piece> PiecesOf(const Runs& runs, uint64_t offset, uint64_t bytes) const;

  const Parts parts_;
  const uint32_t slot_;
  const RecordingPath path_;
  std::atomic<uint64_t> room_;

  absl::Mutex index_mutex_ ABSL_ACQUIRED_BEFORE(update_mutex_);
  // The last pages that were written in part, by their offset: they will be written again.
  std::map<uint64_t, Pages> pages_ ABSL_GUARDED_BY(index_mutex_);
  uint64_t index_written_ ABSL_GUARDED_BY(index_mutex_);  // beyond are zeros

  absl::Mutex update_mutex_ ABSL_ACQUIRED_BEFORE(mutex_);
  bool on_device_ ABSL_GUARDED_BY(update_mutex_);  // or may be

  mutable absl::Mutex mutex_;
  SlotRecord record_ ABSL_GUARDED_BY(mutex_);
  bool deleted_ ABSL_GUARDED_BY(mutex_) = false;
  int writes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tapedeck::storage_node::store::device
