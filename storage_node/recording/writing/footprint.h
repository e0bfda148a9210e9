// The space that a recording takes of its LUN: whole slots, even of short or missing blocks, its
// index and its manifest, in the layout of the LUN's store. It is the same while the recording is
// written, when it is deleted and when the node starts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "storage_node/format/index.h"
#include "storage_node/format/manifest.h"
#include "storage_node/store/layout.h"

namespace tapedeck::storage_node::recording {

// A value.
class Footprint {
 public:
  Footprint(const store::Layout& layout, uint64_t block_bytes, uint32_t members)
      : layout_(layout), block_bytes_(block_bytes), members_(std::max<uint32_t>(1, members)) {}

  // Of so many blocks, without the manifest. Never less for more blocks.
  uint64_t OfBlocks(uint64_t blocks) const {
    const uint64_t rows = blocks / members_;
    const uint64_t longer = blocks % members_;  // members that have a block more
    const uint64_t data = longer * Rounded((rows + 1) * block_bytes_) +
                          (members_ - longer) * Rounded(rows * block_bytes_);
    if (blocks == 0 || !layout_.counts_index) return data;
    const auto entries = format::EntryFormat::Of(block_bytes_, 0);
    return data + std::min(members_, format::kMaxIndexCopies) * Rounded(entries.Offset(blocks));
  }

  uint64_t OfManifest(const format::Manifest& manifest) const {
    if (!layout_.counts_manifest) return 0;
    return members_ * Rounded(format::EncodeManifest(manifest).size());
  }

  // Of what is closed.
  uint64_t Of(const format::Manifest& manifest) const {
    return OfBlocks(manifest.blocks) + OfManifest(manifest);
  }

 private:
  uint64_t Rounded(uint64_t bytes) const {
    return (bytes + layout_.step_bytes - 1) / layout_.step_bytes * layout_.step_bytes;
  }

  const store::Layout layout_;
  const uint64_t block_bytes_;
  const uint32_t members_;
};

}  // namespace tapedeck::storage_node::recording
