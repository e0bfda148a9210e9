#include "dataplane/transport/tcp/wire.h"

#include <cstring>

#include "dataplane/little_endian.h"

namespace tapedeck::dataplane::tcp {

HelloBytes EncodeHello(const Hello& hello) {
  HelloBytes bytes{};
  PutLe<uint32_t>(bytes, 0, kHelloMagic);
  PutLe<uint16_t>(bytes, 4, hello.version);
  PutLe<uint16_t>(bytes, 6, static_cast<uint16_t>(hello.verdict));
  std::memcpy(bytes.data() + 8, hello.token.data(), kTokenBytes);
  return bytes;
}

std::optional<Hello> DecodeHello(std::span<const std::byte, kHelloBytes> bytes) {
  if (GetLe<uint32_t>(bytes, 0) != kHelloMagic) return std::nullopt;
  Hello hello;
  hello.version = GetLe<uint16_t>(bytes, 4);
  hello.verdict = static_cast<Verdict>(GetLe<uint16_t>(bytes, 6));
  std::memcpy(hello.token.data(), bytes.data() + 8, kTokenBytes);
  return hello;
}

void EncodeOpHeader(const OpHeader& header, std::span<std::byte, kOpHeaderBytes> bytes) {
  PutLe<uint32_t>(bytes, 0, kOpMagic);
  PutLe<uint32_t>(bytes, 4, static_cast<uint32_t>(header.kind));
  PutLe<uint32_t>(bytes, 8, header.payload_bytes);
  PutLe<uint32_t>(bytes, 12, header.key);
  PutLe<uint64_t>(bytes, 16, header.address);
  PutLe<uint64_t>(bytes, 24, header.work);
}

std::optional<OpHeader> DecodeOpHeader(std::span<const std::byte, kOpHeaderBytes> bytes) {
  if (GetLe<uint32_t>(bytes, 0) != kOpMagic) return std::nullopt;
  const uint32_t kind = GetLe<uint32_t>(bytes, 4);
  if (kind < static_cast<uint32_t>(OpKind::kSend) ||
      kind > static_cast<uint32_t>(OpKind::kReadResponse)) {
    return std::nullopt;
  }
  return OpHeader{.kind = static_cast<OpKind>(kind),
                  .payload_bytes = GetLe<uint32_t>(bytes, 8),
                  .key = GetLe<uint32_t>(bytes, 12),
                  .address = GetLe<uint64_t>(bytes, 16),
                  .work = GetLe<uint64_t>(bytes, 24)};
}

}  // namespace tapedeck::dataplane::tcp
