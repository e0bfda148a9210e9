// A recording of a memory LUN: which arena slots hold its blocks, its index, its manifest.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "storage_node/store/mailbox.h"
#include "storage_node/store/memory/arena.h"
#include "storage_node/store/recording_files.h"

namespace tapedeck::storage_node::store::memory {

// Finds the rings of a store by the owner of a block. Any thread.
class ArenaPools {
 public:
  void Add(const std::shared_ptr<ArenaPool>& pool);
  // Null if the block's memory is not of this store.
  std::shared_ptr<ArenaPool> Find(const dataplane::SlotOwner* owner);

 private:
  absl::Mutex mutex_;
  std::map<const dataplane::SlotOwner*, std::weak_ptr<ArenaPool>> pools_ ABSL_GUARDED_BY(mutex_);
};

// What is stored. Any thread. Held by shared_ptr: by the store until the recording is deleted, by
// open files and by every block that is being played.
class StoredRecording {
 public:
  StoredRecording(std::shared_ptr<Arena> arena, size_t slot_bytes)
      : arena_(std::move(arena)), slot_bytes_(slot_bytes) {}
  ~StoredRecording();

  Arena& arena() { return *arena_; }
  size_t slot_bytes() const { return slot_bytes_; }

  void Keep(uint64_t place_offset, uint64_t slot_offset);
  std::optional<uint64_t> SlotAt(uint64_t place_offset) const;
  void TrimData(uint64_t bytes);

  void WriteIndex(uint64_t offset, const Bytes& bytes);
  Bytes ReadIndex(uint64_t offset, size_t bytes) const;
  void TrimIndex(uint64_t bytes);

  void set_manifest(std::string text);
  std::string manifest() const;

 private:
  const std::shared_ptr<Arena> arena_;
  const size_t slot_bytes_;
  mutable absl::Mutex mutex_;
  // Arena slots by offset in the recording's data.
  std::unordered_map<uint64_t, uint64_t> slots_ ABSL_GUARDED_BY(mutex_);
  Bytes index_ ABSL_GUARDED_BY(mutex_);
  std::string manifest_ ABSL_GUARDED_BY(mutex_);
};

// Lives on the executor it was opened for; does everything at once and posts the answer.
class MemoryRecording final : public RecordingFiles {
 public:
  MemoryRecording(std::shared_ptr<StoredRecording> stored, std::shared_ptr<ArenaPools> pools,
                  dataplane::Executor& executor);
  ~MemoryRecording() override { mailbox_->Close(); }

  void WriteBlock(format::Place place, dataplane::Block block, BlockDone done) override;
  bool ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                 BlockRead done) override;
  void Flush(Done done) override;
  void Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) override;
  uint32_t index_copies() const override { return 1; }
  void WriteIndex(uint32_t copy, uint64_t offset, Bytes bytes, Done done) override;
  void ReadIndex(uint32_t copy, uint64_t offset, size_t bytes, BytesRead done) override;
  void WriteManifest(std::string text, Done done) override;
  void ReadManifest(uint32_t copy, TextRead done) override;

 private:
  absl::Status Store(format::Place place, dataplane::Block* block);
  absl::StatusOr<dataplane::Block> View(format::Place place, uint32_t bytes);
  void Answer(Done done, absl::Status status);

  const std::shared_ptr<StoredRecording> stored_;
  const std::shared_ptr<ArenaPools> pools_;
  const std::shared_ptr<dataplane::SlotOwner> viewer_;  // of played blocks, which lie in the arena
  const std::shared_ptr<Mailbox> mailbox_;
};

}  // namespace tapedeck::storage_node::store::memory
