// The note of a member: two copies in the head of the device, written in turn (README.md).
#pragma once

#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage_node/store/device/device.h"
#include "storage_node/store/device/layout.h"
#include "storage_node/store/device/pages.h"
#include "storage_node/store/notebook.h"

namespace tapedeck::storage_node::store::device {

// Of one copy; they end where the head does.
inline constexpr uint64_t kNoteBytes = 448 << 10;
inline constexpr uint64_t NoteOffset(uint32_t copy) {
  return (uint64_t{128} << 10) + copy * kNoteBytes;
}
static_assert(NoteOffset(1) + kNoteBytes == kHeadBytes);

// It vouches for no other copy, and for no other LUN on the device. RESOURCE_EXHAUSTED
// (LIMIT_REACHED) if the text is longer than format::kMaxNoteBytes.
absl::StatusOr<Pages> EncodeNote(const Note& note, const format::Uuid& stamp, uint32_t copy);
// The bytes it takes, from its first page; 0: there is none. DATA_LOSS.
absl::StatusOr<size_t> NoteLength(std::span<const std::byte> first_page);
absl::StatusOr<Note> DecodeNote(std::span<const std::byte> bytes, const format::Uuid& stamp,
                                uint32_t copy);

// On the device of a member; refers to both.
class DeviceNotebook final : public Notebook {
 public:
  DeviceNotebook(Device& device, const Superblock& superblock)
      : device_(device), stamp_(superblock.stamp) {}
  absl::StatusOr<Note> ReadNote() override;
  absl::Status WriteNote(const Note& note) override;

 private:
  absl::StatusOr<Note> ReadCopy(uint32_t copy) const;

  Device& device_;
  const format::Uuid stamp_;
};

}  // namespace tapedeck::storage_node::store::device
