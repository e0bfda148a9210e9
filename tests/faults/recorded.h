// Recordings on a fake disk, made and read by the storage node's own writer, reader and
// verification.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/model/recording/recording.h"
#include "storage_node/format/manifest.h"
#include "tests/sim/disks/fault_disk.h"

namespace tapedeck::faults {

inline constexpr uint64_t kBlockBytes = 64 << 10;

// The payload of a block, different for each recording: `recording` is a small number.
std::vector<std::byte> PayloadOf(uint8_t recording, uint64_t sequence);

// Records blocks 0 to `blocks` - 1 of recording number `recording`, and seals them.
storage_node::format::Manifest Record(sim::FaultDisk& disk, uint8_t recording, uint64_t blocks,
                                      uint32_t members = 1);

// The files of such a recording.
sim::DiskRecording& FilesOf(sim::FaultDisk& disk, uint8_t recording);

// What verification says, by block.
std::map<uint64_t, services::DamagedBlock> Verify(sim::FaultDisk& disk,
                                                  const storage_node::format::Manifest& manifest);

// The blocks that playback gives as good; each is compared with PayloadOf().
std::set<uint64_t> Play(sim::FaultDisk& disk, const storage_node::format::Manifest& manifest);

}  // namespace tapedeck::faults
