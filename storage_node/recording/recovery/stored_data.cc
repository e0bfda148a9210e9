#include "storage_node/recording/recovery/stored_data.h"

#include <algorithm>

#include "dataplane/status_macros.h"
#include "storage_node/recording/await_block.h"

namespace tapedeck::storage_node::recording {
namespace {

// A recording that had just begun has four times as much reserved on a member.
constexpr uint64_t kMostZeros = 256 << 20;

// Lets go of the ring's slot. OUT_OF_RANGE: the file ends before.
absl::StatusOr<bool> IsBlank(CallerLoop& loop, store::DataFiles& files, dataplane::SlotPool& ring,
                             format::Place place, uint32_t bytes, uint32_t copy) {
  TD_ASSIGN_OR_RETURN(const dataplane::Block block,
                      AwaitBlock(loop, files, ring, place, bytes, copy));
  return std::ranges::all_of(block.payload(), [](std::byte b) { return b == std::byte{0}; });
}

absl::StatusOr<bool> IsMemberBlank(CallerLoop& loop, store::DataFiles& files,
                                   dataplane::SlotPool& ring, uint32_t member, uint32_t bytes,
                                   uint32_t copy) {
  for (format::Place place{.member = member}; place.offset < kMostZeros; place.offset += bytes) {
    const auto first = IsBlank(loop, files, ring, place, 1, copy);
    if (absl::IsOutOfRange(first.status())) return true;
    if (!first.ok() || !*first) return first;
    const auto all = IsBlank(loop, files, ring, place, bytes, copy);
    if (absl::IsOutOfRange(all.status())) return false;  // it ends within these
    if (!all.ok() || !*all) return all;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::shared_ptr<dataplane::SlotPool>> RingForOne(store::Store& store,
                                                                const format::Manifest& manifest) {
  return store.MakeRing({.slots = 1, .slot_bytes = manifest.block_bytes, .playback = true});
}

absl::StatusOr<bool> IsDataBlank(CallerLoop& loop, store::DataFiles& files,
                                 dataplane::SlotPool& ring, const format::Manifest& manifest) {
  const auto bytes = static_cast<uint32_t>(manifest.block_bytes);
  for (uint32_t member = 0; member < manifest.members; ++member) {
    for (uint32_t copy = 0; copy < files.block_copies(); ++copy) {
      TD_ASSIGN_OR_RETURN(const bool blank, IsMemberBlank(loop, files, ring, member, bytes, copy));
      if (!blank) return false;
    }
  }
  return true;
}

}  // namespace tapedeck::storage_node::recording
