#include "storage_node/recording/await_block.h"

#include <optional>
#include <utility>

namespace tapedeck::storage_node::recording {

absl::StatusOr<dataplane::Block> AwaitBlock(CallerLoop& loop, store::DataFiles& files,
                                            dataplane::SlotPool& ring, format::Place place,
                                            uint32_t bytes, uint32_t copy) {
  std::optional<absl::StatusOr<dataplane::Block>> result;
  ring.SetWaker([&loop] { loop.Post([] {}); });
  loop.RunUntil([&] {
    return files.ReadBlockCopy(
        copy, place, bytes, ring,
        [&result](absl::StatusOr<dataplane::Block> block) { result.emplace(std::move(block)); });
  });
  ring.SetWaker(nullptr);
  loop.RunUntil([&result] { return result.has_value(); });
  return *std::move(result);
}

const absl::StatusOr<format::IndexEntry>& AwaitEntry(CallerLoop& loop, index::IndexReader& index,
                                                     uint64_t sequence) {
  const absl::StatusOr<format::IndexEntry>* entry = nullptr;
  loop.RunUntil([&] {
    entry = index.Find(sequence);
    return entry != nullptr;
  });
  return *entry;
}

}  // namespace tapedeck::storage_node::recording
