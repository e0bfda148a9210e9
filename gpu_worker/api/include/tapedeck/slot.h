// A slot: room for one block, in memory of the deck's device. C++17, for nvcc as well.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tapedeck {

// A cudaStream_t of the deck's device that is not a default stream, or HostStream::handle(). It is
// a pointer for C++17 programs that do not know CUDA.
using Stream = void*;

// What is in a slot of a player: in host memory that the device reads, so that kernels may look, at
// any time between Next and Release in the order of the stream.
struct BlockInfo {
  enum State : std::uint64_t {
    kBlock = 0,  // samples
    kMissing =
        1,        // never captured, or lost: the slot has no samples, and must not be read as zeros
    kEnd = 2,     // there is no block, and none comes
    kFailed = 3,  // the same, and the player's status says why
  };
  std::uint64_t state = kBlock;
  std::uint64_t number = 0;        // of the block, from 0
  std::uint64_t sample_index = 0;  // of its first sample in the recording
  std::int64_t capture_ns = 0;     // UTC, nanoseconds since the Unix epoch; INT64_MIN: unknown
  std::uint64_t bytes = 0;         // of samples; 0 unless kBlock
};

struct Slot {
  // Of the device. Null from a player: there are no samples, and info->state says whether a block
  // is missing or none comes.
  void* data = nullptr;
  std::size_t bytes = 0;            // there is room for; of samples, where Player::Next waited
  std::uint64_t number = 0;         // of the block that it is for, from 0
  const BlockInfo* info = nullptr;  // of a player
};

}  // namespace tapedeck
