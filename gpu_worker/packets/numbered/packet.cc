#include "gpu_worker/packets/numbered/packet.h"

#include "dataplane/little_endian.h"
#include "gpu_worker/packets/datagrams.h"

namespace tapedeck::gpu_worker::packets::numbered {

using dataplane::GetLittleEndian;
using dataplane::PutLittleEndian;

namespace {

constexpr uint32_t kMagic = 0x524e4454;  // "TDNR"
constexpr uint16_t kEndMark = 1;

}  // namespace

std::array<std::byte, kHeaderBytes> Encode(const Header& header) {
  std::array<std::byte, kHeaderBytes> bytes{};
  PutLittleEndian(&bytes[0], kMagic);
  PutLittleEndian(&bytes[4], header.number);
  PutLittleEndian(&bytes[8], header.stream);
  PutLittleEndian(&bytes[12], header.samples_bytes);
  PutLittleEndian(&bytes[14], header.end ? kEndMark : uint16_t{0});
  return bytes;
}

std::optional<Header> Decode(std::span<const std::byte> bytes) {
  if (bytes.size() < kHeaderBytes || GetLittleEndian<uint32_t>(&bytes[0]) != kMagic) return {};
  const auto marks = GetLittleEndian<uint16_t>(&bytes[14]);
  const Header header{.number = GetLittleEndian<uint32_t>(&bytes[4]),
                      .stream = GetLittleEndian<uint32_t>(&bytes[8]),
                      .samples_bytes = GetLittleEndian<uint16_t>(&bytes[12]),
                      .end = marks == kEndMark};
  if (marks > kEndMark || header.samples_bytes == 0) return {};
  return header.packet_bytes() <= kMaxPacketBytes ? std::optional(header) : std::nullopt;
}

}  // namespace tapedeck::gpu_worker::packets::numbered
