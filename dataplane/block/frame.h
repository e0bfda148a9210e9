// The 64-byte message of the data plane: a block's header on the wire, or news about slots and
// blocks. Little-endian; README.md has the table. Every transport carries frames unchanged, in
// order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/block/block.h"

namespace tapedeck::dataplane {

inline constexpr size_t kFrameBytes = 64;
inline constexpr uint16_t kFrameMagic = 0x4454;  // "TD"
inline constexpr uint8_t kFrameVersion = 2;

enum class FrameType : uint8_t {
  kBlock = 1,  // sender → receiver: this block. SEND: payload follows. WRITE: it lies in `slot` of
               // the receiver. READ: it waits in `slot` of the sender
  kGrant = 2,     // receiver → sender: `slot` is free for a block (WRITE), or one more receive is
                  // posted (SEND)
  kReceived = 3,  // receiver → sender: the payload of `sequence` has arrived
  kAck = 4,       // receiver → sender: everything below `sequence` is at the commit level
  kResend = 5,    // receiver → sender: the payload of `sequence` failed its check
  kPing = 6,      // both ways: alive
};

struct Frame {
  FrameType type = FrameType::kPing;
  uint32_t slot = 0;
  uint32_t number =
      0;  // counts the frames of one connection and direction from 0: a hole is a lost frame
  BlockHeader block;  // whole for kBlock; only `sequence` elsewhere
};

using FrameBytes = std::array<std::byte, kFrameBytes>;

FrameBytes EncodeFrame(const Frame& frame);

// DATA_LOSS for a wrong magic, version, type or check value.
absl::StatusOr<Frame> DecodeFrame(std::span<const std::byte, kFrameBytes> bytes);

}  // namespace tapedeck::dataplane
