#include "storage_node/recording/recovery/stored_index.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "dataplane/status_macros.h"
#include "storage_node/store/copies.h"

namespace tapedeck::storage_node::recording {
namespace {

constexpr size_t kChunkBytes = 512 << 10;

bool IsBlank(const store::Bytes& bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// Of a copy that is gone: none.
absl::StatusOr<store::Bytes> Read(CallerLoop& loop, store::RecordingFiles& files, uint32_t copy,
                                  uint64_t offset, size_t bytes) {
  auto read = Await<absl::StatusOr<store::Bytes>>(
      loop, [&](auto done) { files.ReadIndex(copy, offset, bytes, std::move(done)); });
  if (absl::IsDataLoss(read.status())) return store::Bytes();
  return read;
}

absl::StatusOr<IndexState> StateOfCopy(CallerLoop& loop, store::RecordingFiles& files,
                                       uint32_t copy) {
  IndexState state = IndexState::kGone;
  for (uint64_t offset = 0;; offset += kChunkBytes) {
    TD_ASSIGN_OR_RETURN(const store::Bytes bytes, Read(loop, files, copy, offset, kChunkBytes));
    if (!IsBlank(bytes)) return IndexState::kWritten;
    if (!bytes.empty()) state = IndexState::kBlank;
    if (bytes.size() < kChunkBytes) return state;
  }
}

std::optional<format::IndexHeader> HeaderOfCopy(CallerLoop& loop, store::RecordingFiles& files,
                                                uint32_t copy) {
  const auto page = Read(loop, files, copy, 0, format::kPageBytes);
  if (!page.ok() || page->size() < format::kPageBytes) return std::nullopt;
  auto header = format::DecodeHeader(std::span(*page).first<format::kPageBytes>(), copy);
  if (!header.ok()) return std::nullopt;
  return *std::move(header);
}

std::optional<format::IndexHeader> HeaderOf(CallerLoop& loop, store::RecordingFiles& files,
                                            const store::CopyHealth* health) {
  for (uint32_t copy = 0; copy < files.index_copies(); ++copy) {
    if (health != nullptr && health->behind(copy)) continue;
    if (auto header = HeaderOfCopy(loop, files, copy); header.has_value()) return header;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<IndexState> StateOfIndex(CallerLoop& loop, store::RecordingFiles& files) {
  IndexState state = IndexState::kGone;
  for (uint32_t copy = 0; copy < files.index_copies(); ++copy) {
    TD_ASSIGN_OR_RETURN(const IndexState here, StateOfCopy(loop, files, copy));
    state = std::max(state, here);
  }
  return state;
}

absl::StatusOr<uint64_t> LengthOfIndex(CallerLoop& loop, store::RecordingFiles& files) {
  uint64_t length = 0;
  for (uint32_t copy = 0; copy < files.index_copies(); ++copy) {
    store::Bytes bytes(kChunkBytes);
    for (uint64_t offset = 0; bytes.size() == kChunkBytes; offset += kChunkBytes) {
      TD_ASSIGN_OR_RETURN(bytes, Read(loop, files, copy, offset, kChunkBytes));
      length = std::max(length, offset + bytes.size());
    }
  }
  return length;
}

std::optional<format::IndexHeader> StoredHeader(CallerLoop& loop, store::RecordingFiles& files) {
  return HeaderOf(loop, files, nullptr);
}

std::optional<format::IndexHeader> BelievedHeader(store::Store& store, CallerLoop& loop,
                                                  store::RecordingFiles& files) {
  store::Copies* const copies = store.extras().copies;
  return HeaderOf(loop, files, copies == nullptr ? nullptr : copies->health().get());
}

uint32_t CopiesWithout(CallerLoop& loop, store::RecordingFiles& files,
                       const format::IndexHeader& header) {
  uint32_t without = 0;
  for (uint32_t copy = 0; copy < files.index_copies(); ++copy) {
    const auto page = Read(loop, files, copy, 0, format::kPageBytes);
    const bool is_there = page.ok() && !IsBlank(*page);
    if (is_there && HeaderOfCopy(loop, files, copy) != header) ++without;
  }
  return without;
}

bool IsBehind(store::Store& store) {
  store::Copies* const copies = store.extras().copies;
  return copies != nullptr && !copies->health()->lacking().ok();
}

}  // namespace tapedeck::storage_node::recording
