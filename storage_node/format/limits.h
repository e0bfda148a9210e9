// The limits of the values of a record on a disk. A stranger who wrote the disk has computed the
// check values too. So a reader checks a record against these limits before it uses a value as a
// size, an index, a path or in a sum. Values that the node accepts from users must be within them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "services/model/channel.h"
#include "services/model/lun.h"

namespace tapedeck::storage_node::format {

using services::model::kMaxMembers;

// A sector: less no disk writes. Which sizes a channel may have says the catalog.
inline constexpr uint64_t kBlockMultiple = 512;
using services::model::kMaxBlockBytes;

// Of one recording, payload or index: below it sums and products of offsets do not overflow, and
// it is a file offset.
inline constexpr uint64_t kMaxRecordingBytes = uint64_t{1} << 62;

using services::model::kMaxDurationNs;
using services::model::kMaxTimeNs;

// A counter that is raised with each write of a page never gets there.
inline constexpr uint64_t kMaxGeneration = uint64_t{1} << 62;

// lun.json, channel.json and the like.
inline constexpr uint64_t kMaxConfigBytes = 64 << 10;
// What a device says of its LUN: lun.json and, with some 500 bytes each, the channels.
inline constexpr uint64_t kMaxNoteBytes = 444 << 10;
// Separate gaps after which a recording is ended, so that its manifest can be read; and with what
// may be under way then.
inline constexpr uint64_t kMaxGaps = 1 << 14;
inline constexpr uint64_t kMaxListedGaps = kMaxGaps + (1 << 16);
// manifest.json: 64 KiB of labels, 512 KiB and 10,000 of markers, of which each byte may be written
// as six, and the gaps.
inline constexpr uint64_t kMaxManifestBytes = 12 << 20;
inline constexpr int kMaxJsonDepth = 32;
// Commas and opening brackets: of the gaps, of the markers, and as many again. A parsed text has
// some 100 bytes for each.
inline constexpr size_t kMaxJsonParts = 600'000;

constexpr bool IsBlockSize(uint64_t bytes) {
  return bytes > 0 && bytes <= kMaxBlockBytes && bytes % kBlockMultiple == 0;
}

// Of a recording of blocks of this size, which IsBlockSize.
constexpr uint64_t MaxBlocks(uint64_t block_bytes) { return kMaxRecordingBytes / block_bytes; }

}  // namespace tapedeck::storage_node::format
