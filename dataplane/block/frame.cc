#include "dataplane/block/frame.h"

#include "absl/strings/str_cat.h"
#include "dataplane/crc/crc32c.h"
#include "dataplane/little_endian.h"

namespace tapedeck::dataplane {
namespace {

// Offsets of the fields; the table in README.md says the same.
constexpr size_t kMagicAt = 0;
constexpr size_t kVersionAt = 2;
constexpr size_t kTypeAt = 3;
constexpr size_t kSlotAt = 4;
constexpr size_t kRecordingAt = 8;
constexpr size_t kSequenceAt = 16;
constexpr size_t kSampleIndexAt = 24;
constexpr size_t kCaptureNsAt = 32;
constexpr size_t kPayloadBytesAt = 40;
constexpr size_t kPayloadCrcAt = 44;
constexpr size_t kNumberAt = 48;
constexpr size_t kFlagsAt = 52;
constexpr size_t kFirstTriggerAt = 54;
constexpr size_t kLastTriggerAt = 57;
constexpr size_t kFrameCrcAt = 60;

// Three bytes.
void PutSample(std::byte* at, uint32_t sample) {
  PutLittleEndian<uint16_t>(at, static_cast<uint16_t>(sample));
  PutLittleEndian<uint8_t>(at + 2, static_cast<uint8_t>(sample >> 16));
}
uint32_t GetSample(const std::byte* at) {
  return GetLittleEndian<uint16_t>(at) | uint32_t{GetLittleEndian<uint8_t>(at + 2)} << 16;
}

}  // namespace

FrameBytes EncodeFrame(const Frame& frame) {
  FrameBytes bytes{};
  PutLittleEndian<uint16_t>(&bytes[kMagicAt], kFrameMagic);
  PutLittleEndian<uint8_t>(&bytes[kVersionAt], kFrameVersion);
  PutLittleEndian<uint8_t>(&bytes[kTypeAt], static_cast<uint8_t>(frame.type));
  PutLittleEndian<uint32_t>(&bytes[kSlotAt], frame.slot);
  PutLittleEndian<uint64_t>(&bytes[kRecordingAt], frame.block.recording);
  PutLittleEndian<uint64_t>(&bytes[kSequenceAt], frame.block.sequence);
  PutLittleEndian<uint64_t>(&bytes[kSampleIndexAt], frame.block.sample_index);
  PutLittleEndian<int64_t>(&bytes[kCaptureNsAt], frame.block.capture_ns);
  PutLittleEndian<uint32_t>(&bytes[kPayloadBytesAt], frame.block.payload_bytes);
  PutLittleEndian<uint32_t>(&bytes[kPayloadCrcAt], frame.block.crc32c);
  PutLittleEndian<uint32_t>(&bytes[kNumberAt], frame.number);
  PutLittleEndian<uint16_t>(&bytes[kFlagsAt], static_cast<uint16_t>(frame.block.flags));
  PutSample(&bytes[kFirstTriggerAt], frame.block.triggers.first);
  PutSample(&bytes[kLastTriggerAt], frame.block.triggers.last);
  PutLittleEndian<uint32_t>(&bytes[kFrameCrcAt], Crc32c(std::span(bytes).first(kFrameCrcAt)));
  return bytes;
}

absl::StatusOr<Frame> DecodeFrame(std::span<const std::byte, kFrameBytes> bytes) {
  if (GetLittleEndian<uint16_t>(&bytes[kMagicAt]) != kFrameMagic) {
    return absl::DataLossError("frame: wrong magic");
  }
  if (GetLittleEndian<uint32_t>(&bytes[kFrameCrcAt]) != Crc32c(bytes.first(kFrameCrcAt))) {
    return absl::DataLossError("frame: check value does not match");
  }
  if (const int version = GetLittleEndian<uint8_t>(&bytes[kVersionAt]); version != kFrameVersion) {
    return absl::DataLossError(absl::StrCat("frame: version ", version, ", not ", kFrameVersion));
  }
  const int type = GetLittleEndian<uint8_t>(&bytes[kTypeAt]);
  if (type < static_cast<int>(FrameType::kBlock) || type > static_cast<int>(FrameType::kPing)) {
    return absl::DataLossError(absl::StrCat("frame: unknown type ", type));
  }
  Frame frame;
  frame.type = static_cast<FrameType>(type);
  frame.slot = GetLittleEndian<uint32_t>(&bytes[kSlotAt]);
  frame.number = GetLittleEndian<uint32_t>(&bytes[kNumberAt]);
  frame.block.recording = GetLittleEndian<uint64_t>(&bytes[kRecordingAt]);
  frame.block.sequence = GetLittleEndian<uint64_t>(&bytes[kSequenceAt]);
  frame.block.sample_index = GetLittleEndian<uint64_t>(&bytes[kSampleIndexAt]);
  frame.block.capture_ns = GetLittleEndian<int64_t>(&bytes[kCaptureNsAt]);
  frame.block.payload_bytes = GetLittleEndian<uint32_t>(&bytes[kPayloadBytesAt]);
  frame.block.crc32c = GetLittleEndian<uint32_t>(&bytes[kPayloadCrcAt]);
  frame.block.flags = GetLittleEndian<uint16_t>(&bytes[kFlagsAt]);
  frame.block.triggers = {.first = GetSample(&bytes[kFirstTriggerAt]),
                          .last = GetSample(&bytes[kLastTriggerAt])};
  return frame;
}

}  // namespace tapedeck::dataplane
