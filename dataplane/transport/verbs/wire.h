// The messages of the control queue pair: a header of 16 bytes, then nothing, a frame, or the fill
// of the full hello. Payload never passes here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "dataplane/block/frame.h"
#include "dataplane/transport/verbs/port/limits.h"

namespace tapedeck::dataplane::verbs {

enum class MessageKind : uint8_t {
  kHello = 1,         // first, header only: the peer is there
  kFullHello = 2,     // second, kHelloBytes: packets of the path MTU get through
  kFrame = 3,         // a frame
  kPayloadFrame = 4,  // a frame whose payload comes over the payload queue pair
  kCredits = 5,       // header only: word of credits where no frame carries it
  kBye = 6,           // header only, last: the sender closes
};

// Header, 16 bytes, little-endian: magic u16, version u8, kind u8, credits u32, payload_bytes u32,
// zero u32.
inline constexpr size_t kHeaderBytes = 16;
inline constexpr size_t kFrameMessageBytes = kHeaderBytes + kFrameBytes;
inline constexpr uint16_t kMessageMagic = 0x5654;  // "TV"
inline constexpr uint8_t kMessageVersion = 1;
static_assert(kFrameMessageBytes <= kSlotBytes);

struct Message {
  MessageKind kind = MessageKind::kHello;
  // Receives that the writer has posted again since the hello, counted modulo 2^32.
  uint32_t credits = 0;
  uint32_t payload_bytes = 0;  // kPayloadFrame only
  Frame frame;                 // kFrame, kPayloadFrame
};

// Writes the message at the start of `into`, which holds kHelloBytes for a full hello and
// kSlotBytes for any other; returns its size.
size_t EncodeMessage(const Message& message, std::span<std::byte> into);

// DATA_LOSS for anything but a whole message; FAILED_PRECONDITION for another version.
absl::StatusOr<Message> DecodeMessage(std::span<const std::byte> bytes);

}  // namespace tapedeck::dataplane::verbs
