#include "dataplane/transport/tcp/wire.h"

#include <cstring>

#include "dataplane/little_endian.h"

namespace tapedeck::dataplane::tcp {

HelloBytes EncodeHello(const Hello& hello) {
  HelloBytes bytes{};
  PutLittleEndian<uint32_t>(&bytes[0], kHelloMagic);
  PutLittleEndian<uint16_t>(&bytes[4], hello.version);
  PutLittleEndian<uint16_t>(&bytes[6], static_cast<uint16_t>(hello.verdict));
  std::memcpy(bytes.data() + 8, hello.token.data(), kTokenBytes);
  return bytes;
}

std::optional<Hello> DecodeHello(std::span<const std::byte, kHelloBytes> bytes) {
  if (GetLittleEndian<uint32_t>(&bytes[0]) != kHelloMagic) return std::nullopt;
  Hello hello;
  hello.version = GetLittleEndian<uint16_t>(&bytes[4]);
  hello.verdict = static_cast<Verdict>(GetLittleEndian<uint16_t>(&bytes[6]));
  std::memcpy(hello.token.data(), bytes.data() + 8, kTokenBytes);
  return hello;
}

void EncodeOpHeader(const OpHeader& header, std::span<std::byte, kOpHeaderBytes> bytes) {
  PutLittleEndian<uint32_t>(&bytes[0], kOpMagic);
  PutLittleEndian<uint32_t>(&bytes[4], static_cast<uint32_t>(header.kind));
  PutLittleEndian<uint32_t>(&bytes[8], header.payload_bytes);
  PutLittleEndian<uint32_t>(&bytes[12], header.key);
  PutLittleEndian<uint64_t>(&bytes[16], header.address);
  PutLittleEndian<uint64_t>(&bytes[24], header.work);
}

std::optional<OpHeader> DecodeOpHeader(std::span<const std::byte, kOpHeaderBytes> bytes) {
  if (GetLittleEndian<uint32_t>(&bytes[0]) != kOpMagic) return std::nullopt;
  const uint32_t kind = GetLittleEndian<uint32_t>(&bytes[4]);
  if (kind < static_cast<uint32_t>(OpKind::kSend) ||
      kind > static_cast<uint32_t>(OpKind::kReadResponse)) {
    return std::nullopt;
  }
  return OpHeader{.kind = static_cast<OpKind>(kind),
                  .payload_bytes = GetLittleEndian<uint32_t>(&bytes[8]),
                  .key = GetLittleEndian<uint32_t>(&bytes[12]),
                  .address = GetLittleEndian<uint64_t>(&bytes[16]),
                  .work = GetLittleEndian<uint64_t>(&bytes[24])};
}

}  // namespace tapedeck::dataplane::tcp
