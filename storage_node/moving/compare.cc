#include "storage_node/moving/compare.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dataplane/status_macros.h"
#include "services/copy/compare.h"
#include "storage_node/moving/drafts.h"
#include "storage_node/moving/reading.h"
#include "storage_node/recording/await_block.h"

namespace tapedeck::storage_node::moving {
namespace {

using dataplane::Block;
using services::copying::Compared;
using services::copying::NextBlock;

// An index that is read, and the files that it is read from.
struct OpenIndex {
  OpenIndex(std::unique_ptr<store::RecordingFiles> opened, const format::EntryFormat& entries)
      : files(std::move(opened)), reader(*files, entries, [] {}) {}

  const std::unique_ptr<store::RecordingFiles> files;
  index::IndexReader reader;
};

// What the index of a recording says of its blocks: their headers alone. `found` outlives it.
absl::StatusOr<NextBlock> ReadIndex(const recordings::FoundRecording& found,
                                    recording::CallerLoop& loop) {
  TD_ASSIGN_OR_RETURN(auto files, found.lun->store->OpenRecording(found.path(), loop));
  const auto index = std::make_shared<OpenIndex>(std::move(files), found.manifest.entries());
  return [&, index, sequence = uint64_t{0}]() mutable -> absl::StatusOr<std::optional<Block>> {
    Block block;
    block.header() = {.sequence = sequence, .flags = dataplane::kBlockMissing};
    if (!format::HasSequence(found.manifest.missing, sequence)) {
      TD_ASSIGN_OR_RETURN(const format::IndexEntry entry,
                          recording::AwaitEntry(loop, index->reader, sequence));
      block.header() = {.sequence = sequence,
                        .sample_index = entry.sample_index,
                        .capture_ns = entry.capture_ns,
                        .payload_bytes = entry.payload_bytes,
                        .crc32c = entry.payload_crc32c,
                        .flags = entry.flags & ~uint32_t{dataplane::kBlockMissing}};
    }
    ++sequence;
    return block;
  };
}

}  // namespace

absl::Status CompareCopy(const recordings::FoundRecording& source,
                         const recordings::FoundRecording& copy, const dataplane::Clock& clock,
                         services::copying::Pace& pace) {
  const format::Manifest& original = source.manifest;
  const Compared compared{
      .original = source.name.ToString(), .copy = copy.name.ToString(), .blocks = original.blocks};
  if (!IsWhole(copy.manifest, original) || copy.manifest.missing != original.missing ||
      copy.manifest.block_bytes != original.block_bytes ||
      copy.manifest.datatype != original.datatype) {
    return NotWhole(compared, absl::StrCat("it has ", copy.manifest.blocks, " blocks, ",
                                           copy.manifest.missing_blocks(), " of them missing"));
  }
  recording::CallerLoop loop(clock);
  TD_ASSIGN_OR_RETURN(const NextBlock of_original, ReadIndex(source, loop));
  TD_ASSIGN_OR_RETURN(const NextBlock of_copy, Read(copy, loop));
  return CompareBlocks(compared, of_original, of_copy, pace);
}

}  // namespace tapedeck::storage_node::moving
