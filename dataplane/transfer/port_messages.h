// What crosses between a Link and its LinkPort, as values: many go in one task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "dataplane/block/frame.h"
#include "dataplane/crc/piece_crcs.h"
#include "dataplane/transport/endpoint.h"

namespace tapedeck::dataplane {

// What a Link asks of its connection: an operation, or word of a slot that the peer may fill.
struct PortWork {
  enum class Kind : uint8_t { kSend, kWrite, kRead, kGrantReceive, kGrantWrite };
  Kind kind = Kind::kSend;
  Frame frame;
  std::span<const std::byte> payload;  // to send or write
  std::span<std::byte> into;           // to read into, or granted
  RemoteSlice remote;
  uint64_t work = 0;
};

// What a connection has told: a frame, or that an operation is complete.
struct PortEvent {
  bool is_frame = false;
  Frame frame;
  std::span<std::byte> payload;  // of the frame, as in ConnectionEvents
  uint64_t work = 0;             // of the operation
  // The payload that has arrived by either, its CRCs, and how long they took; empty: they were not
  // asked for.
  std::span<const std::byte> arrived;
  PieceCrcs crcs;
  int64_t crc_ns = 0;
};

}  // namespace tapedeck::dataplane
