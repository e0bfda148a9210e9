#include "storage_node/engine/registered_memory.h"

#include <algorithm>
#include <cerrno>

namespace tapedeck::storage_node::engine {
namespace {

constexpr int kBuffers = 256;

// io_uring_register(2): a fixed buffer has at most 1 GiB. Blocks have at most 8 MiB and lie at
// multiples of their size, so pieces of whole 8 MiB steps cut none of a power of two; one that is
// cut goes by its address like any other memory.
constexpr size_t kMaxPieceBytes = 1 << 30;

}  // namespace

BufferTable::BufferTable(io_uring* ring) : ring_(ring) {
  for (int i = kBuffers - 1; i >= 0; --i) free_.push_back(i);
}

int BufferTable::Create(io_uring* ring, std::shared_ptr<BufferTable>* table) {
  const int result = io_uring_register_buffers_sparse(ring, kBuffers);
  if (result < 0) return -result;
  table->reset(new BufferTable(ring));
  return 0;
}

int BufferTable::Update(int index, std::span<std::byte> bytes) {
  const iovec vector{.iov_base = bytes.data(), .iov_len = bytes.size()};
  const __u64 tag = 0;
  const int result =
      io_uring_register_buffers_update_tag(ring_, static_cast<unsigned>(index), &vector, &tag, 1);
  return result < 0 ? -result : 0;
}

int BufferTable::AddPiece(std::span<std::byte> piece) {
  if (free_.empty()) return ENOSPC;
  const int index = free_.back();
  if (const int error = Update(index, piece); error != 0) return error;
  free_.pop_back();
  buffers_[piece.data()] = {.bytes = piece.size(), .index = index};
  return 0;
}

int BufferTable::Add(std::span<std::byte> bytes) {
  int error = 0;
  {
    absl::MutexLock lock(&mutex_);
    if (ring_ == nullptr) return EBADF;
    for (size_t at = 0; at < bytes.size() && error == 0; at += kMaxPieceBytes) {
      error = AddPiece(bytes.subspan(at, std::min(kMaxPieceBytes, bytes.size() - at)));
    }
  }
  if (error != 0) Remove(bytes);
  return error;
}

void BufferTable::Remove(std::span<std::byte> bytes) {
  absl::MutexLock lock(&mutex_);
  if (ring_ == nullptr) return;
  auto it = buffers_.lower_bound(bytes.data());
  while (it != buffers_.end() && it->first < bytes.data() + bytes.size()) {
    Update(it->second.index, {});
    free_.push_back(it->second.index);
    it = buffers_.erase(it);
  }
}

std::optional<int> BufferTable::Find(std::span<const std::byte> bytes) const {
  absl::MutexLock lock(&mutex_);
  auto it = buffers_.upper_bound(bytes.data());
  if (it == buffers_.begin()) return std::nullopt;
  --it;
  if (bytes.data() + bytes.size() > it->first + it->second.bytes) return std::nullopt;
  return it->second.index;
}

void BufferTable::Close() {
  absl::MutexLock lock(&mutex_);
  ring_ = nullptr;
  buffers_.clear();
}

}  // namespace tapedeck::storage_node::engine
