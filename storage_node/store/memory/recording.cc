#include "storage_node/store/memory/recording.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "storage_node/disk/errors.h"

namespace tapedeck::storage_node::store::memory {
namespace {

// Owns nothing but a reference: the recording's memory outlives the blocks that show it.
class Viewer final : public dataplane::SlotOwner {
 public:
  explicit Viewer(std::shared_ptr<StoredRecording> stored) : stored_(std::move(stored)) {}
  void ReturnSlot(uint32_t) override {}

 private:
  const std::shared_ptr<StoredRecording> stored_;
};

absl::Status Full() {
  return disk::MemberFull("memory", "memory LUN: the arena is full; delete recordings");
}

absl::Status NoBlock(format::Place place) {
  return disk::StoreIo("memory", "read",
                       absl::StrCat("memory LUN: no block at byte ", place.offset));
}

}  // namespace

void ArenaPools::Add(const std::shared_ptr<ArenaPool>& pool) {
  absl::MutexLock lock(&mutex_);
  std::erase_if(pools_, [](const auto& entry) { return entry.second.expired(); });
  pools_[pool.get()] = pool;
}

std::shared_ptr<ArenaPool> ArenaPools::Find(const dataplane::SlotOwner* owner) {
  absl::MutexLock lock(&mutex_);
  const auto it = pools_.find(owner);
  return it == pools_.end() ? nullptr : it->second.lock();
}

StoredRecording::~StoredRecording() {
  absl::MutexLock lock(&mutex_);
  for (const auto& [place, slot] : slots_) arena_->Free(slot);
}

void StoredRecording::Keep(uint64_t place_offset, uint64_t slot_offset) {
  absl::MutexLock lock(&mutex_);
  const auto [it, inserted] = slots_.try_emplace(place_offset, slot_offset);
  if (!inserted) arena_->Free(std::exchange(it->second, slot_offset));
}

std::optional<uint64_t> StoredRecording::SlotAt(uint64_t place_offset) const {
  absl::MutexLock lock(&mutex_);
  const auto it = slots_.find(place_offset);
  return it == slots_.end() ? std::nullopt : std::optional(it->second);
}

void StoredRecording::TrimData(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  std::erase_if(slots_, [&](const auto& entry) {
    if (entry.first < bytes) return false;
    arena_->Free(entry.second);
    return true;
  });
}

void StoredRecording::WriteIndex(uint64_t offset, const Bytes& bytes) {
  absl::MutexLock lock(&mutex_);
  if (index_.size() < offset + bytes.size()) index_.resize(offset + bytes.size());
  std::copy(bytes.begin(), bytes.end(), index_.begin() + static_cast<ptrdiff_t>(offset));
}

Bytes StoredRecording::ReadIndex(uint64_t offset, size_t bytes) const {
  absl::MutexLock lock(&mutex_);
  if (offset >= index_.size()) return {};
  const auto begin = index_.begin() + static_cast<ptrdiff_t>(offset);
  return Bytes(begin, begin + static_cast<ptrdiff_t>(std::min(bytes, index_.size() - offset)));
}

void StoredRecording::TrimIndex(uint64_t bytes) {
  absl::MutexLock lock(&mutex_);
  index_.resize(bytes);
}

void StoredRecording::set_manifest(std::string text) {
  absl::MutexLock lock(&mutex_);
  manifest_ = std::move(text);
}

std::string StoredRecording::manifest() const {
  absl::MutexLock lock(&mutex_);
  return manifest_;
}

MemoryRecording::MemoryRecording(std::shared_ptr<StoredRecording> stored,
                                 std::shared_ptr<ArenaPools> pools, dataplane::Executor& executor)
    : stored_(std::move(stored)),
      pools_(std::move(pools)),
      viewer_(std::make_shared<Viewer>(stored_)),
      mailbox_(std::make_shared<Mailbox>(executor)) {}

absl::Status MemoryRecording::Store(format::Place place, dataplane::Block* block) {
  Arena& arena = stored_->arena();
  if (const auto pool = pools_->Find(block->owner());
      pool != nullptr && pool->slot_bytes() == stored_->slot_bytes()) {
    if (!pool->Replace()) return Full();
    stored_->Keep(place.offset, uint64_t{block->slot()} * pool->slot_bytes());
    block->Detach();
    return absl::OkStatus();
  }
  const std::optional<uint64_t> slot = arena.Allocate(stored_->slot_bytes());
  if (!slot.has_value()) return Full();
  const std::span<std::byte> payload = block->payload();
  std::memcpy(arena.slot(*slot, payload.size()).data(), payload.data(), payload.size());
  stored_->Keep(place.offset, *slot);
  block->Reset();
  return absl::OkStatus();
}

absl::StatusOr<dataplane::Block> MemoryRecording::View(format::Place place, uint32_t bytes) {
  uint64_t offset = 0;
  if (bytes > 0) {
    const std::optional<uint64_t> slot = stored_->SlotAt(place.offset);
    if (!slot.has_value()) return NoBlock(place);
    offset = *slot;
  }
  const size_t slot_bytes = stored_->slot_bytes();
  dataplane::Block block(viewer_, static_cast<uint32_t>(offset / slot_bytes),
                         stored_->arena().slot(offset, bytes > 0 ? slot_bytes : 0));
  block.header().payload_bytes = bytes;
  return block;
}

void MemoryRecording::WriteBlock(format::Place place, dataplane::Block block, BlockDone done) {
  absl::Status status = Store(place, &block);
  mailbox_->Post([status = std::move(status), block = std::move(block),
                  done = std::move(done)]() mutable { done(status, std::move(block)); });
}

bool MemoryRecording::ReadBlock(format::Place place, uint32_t bytes, dataplane::SlotPool& ring,
                                BlockRead done) {
  absl::StatusOr<dataplane::Block> result = View(place, bytes);
  if (result.ok() && ring.window().bytes.data() != stored_->arena().window().data()) {
    std::optional<dataplane::Block> copy = ring.Take();
    if (!copy.has_value()) return false;
    copy->header() = result->header();
    std::memcpy(copy->payload().data(), result->payload().data(), bytes);
    result = std::move(*copy);
  }
  mailbox_->Post(
      [result = std::move(result), done = std::move(done)]() mutable { done(std::move(result)); });
  return true;
}

void MemoryRecording::Answer(Done done, absl::Status status) {
  mailbox_->Post([status = std::move(status), done = std::move(done)]() mutable { done(status); });
}

// Memory is as durable as it gets once it is written.
void MemoryRecording::Flush(Done done) { Answer(std::move(done), absl::OkStatus()); }

void MemoryRecording::Trim(std::vector<uint64_t> data_bytes, uint64_t index_bytes, Done done) {
  stored_->TrimData(data_bytes[0]);
  stored_->TrimIndex(index_bytes);
  Answer(std::move(done), absl::OkStatus());
}

void MemoryRecording::WriteIndex(uint32_t /*copy*/, uint64_t offset, Bytes bytes, Done done) {
  stored_->WriteIndex(offset, bytes);
  Answer(std::move(done), absl::OkStatus());
}

void MemoryRecording::ReadIndex(uint32_t /*copy*/, uint64_t offset, size_t bytes, BytesRead done) {
  mailbox_->Post([result = stored_->ReadIndex(offset, bytes), done = std::move(done)]() mutable {
    done(std::move(result));
  });
}

void MemoryRecording::WriteManifest(std::string text, Done done) {
  stored_->set_manifest(std::move(text));
  Answer(std::move(done), absl::OkStatus());
}

void MemoryRecording::ReadManifest(uint32_t /*copy*/, TextRead done) {
  mailbox_->Post(
      [text = stored_->manifest(), done = std::move(done)]() mutable { done(std::move(text)); });
}

}  // namespace tapedeck::storage_node::store::memory
