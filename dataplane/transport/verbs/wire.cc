#include "dataplane/transport/verbs/wire.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dataplane/errors.h"
#include "dataplane/little_endian.h"
#include "dataplane/status_macros.h"

namespace tapedeck::dataplane::verbs {
namespace {

size_t SizeOf(MessageKind kind) {
  switch (kind) {
    case MessageKind::kFullHello:
      return kHelloBytes;
    case MessageKind::kFrame:
    case MessageKind::kPayloadFrame:
      return kFrameMessageBytes;
    default:
      return kHeaderBytes;
  }
}

// No two neighbouring bytes alike, so that bytes in the wrong place show.
std::byte Fill(size_t i) { return static_cast<std::byte>(i * 31 + (i >> 8)); }

bool IsFilled(std::span<const std::byte> bytes) {
  for (size_t i = kHeaderBytes; i < bytes.size(); ++i) {
    if (bytes[i] != Fill(i)) return false;
  }
  return true;
}

}  // namespace

size_t EncodeMessage(const Message& message, std::span<std::byte> into) {
  PutLittleEndian<uint16_t>(&into[0], kMessageMagic);
  PutLittleEndian<uint8_t>(&into[2], kMessageVersion);
  PutLittleEndian<uint8_t>(&into[3], static_cast<uint8_t>(message.kind));
  PutLittleEndian<uint32_t>(&into[4], message.credits);
  PutLittleEndian<uint32_t>(&into[8], message.payload_bytes);
  PutLittleEndian<uint32_t>(&into[12], 0);
  const size_t size = SizeOf(message.kind);
  if (size == kFrameMessageBytes) {
    std::ranges::copy(EncodeFrame(message.frame), into.subspan<kHeaderBytes>().begin());
  } else if (size == kHelloBytes) {
    for (size_t i = kHeaderBytes; i < size; ++i) into[i] = Fill(i);
  }
  return size;
}

absl::StatusOr<Message> DecodeMessage(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes || GetLittleEndian<uint16_t>(&bytes[0]) != kMessageMagic) {
    return absl::DataLossError(
        absl::StrCat("received ", bytes.size(), " bytes that are not a control message"));
  }
  if (const int version = GetLittleEndian<uint8_t>(&bytes[2]); version != kMessageVersion) {
    return VersionMismatch(
        kMessageVersion, version,
        absl::StrCat("the peer speaks verbs wire version ", version, ", this end ", kMessageVersion,
                     "; run the same release on both"));
  }
  const int kind = GetLittleEndian<uint8_t>(&bytes[3]);
  if (kind < static_cast<int>(MessageKind::kHello) || kind > static_cast<int>(MessageKind::kBye)) {
    return absl::DataLossError(absl::StrCat("received a control message of unknown kind ", kind));
  }
  Message message{.kind = static_cast<MessageKind>(kind),
                  .credits = GetLittleEndian<uint32_t>(&bytes[4]),
                  .payload_bytes = GetLittleEndian<uint32_t>(&bytes[8])};
  if (bytes.size() != SizeOf(message.kind)) {
    return absl::DataLossError(absl::StrCat("received a control message of kind ", kind, " with ",
                                            bytes.size(), " bytes, not ", SizeOf(message.kind)));
  }
  if ((message.kind == MessageKind::kPayloadFrame) != (message.payload_bytes != 0)) {
    return absl::DataLossError(absl::StrCat("received a control message of kind ", kind,
                                            " that names ", message.payload_bytes,
                                            " bytes of payload"));
  }
  if (message.kind == MessageKind::kFullHello && !IsFilled(bytes)) {
    return absl::DataLossError("received a hello with damaged bytes");
  }
  if (bytes.size() == kFrameMessageBytes) {
    TD_ASSIGN_OR_RETURN(message.frame, DecodeFrame(bytes.subspan<kHeaderBytes, kFrameBytes>()));
  }
  return message;
}

}  // namespace tapedeck::dataplane::verbs
