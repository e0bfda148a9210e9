// The bytes of a TCP connection of the data plane: a hello each way, then operations. Every
// operation begins with a fixed preamble. So the receiver can ask the kernel for "the rest of this
// payload, then what follows" in one call, and reads payload into its slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/block/frame.h"

namespace tapedeck::dataplane::tcp {

inline constexpr size_t kTokenBytes = 16;
using Token = std::array<uint8_t, kTokenBytes>;

// Hello of the connecting side: magic u32, version u16, zero u16, token, zero to 32 bytes. The
// listening side answers with the same layout, a zero token and its verdict in place of the zero
// u16.
inline constexpr size_t kHelloBytes = 32;
inline constexpr uint32_t kHelloMagic = 0x49484454;  // "TDHI"
inline constexpr uint16_t kWireVersion = 1;

enum class Verdict : uint16_t { kWelcome = 0, kUnknownToken = 1, kWrongVersion = 2 };

struct Hello {
  uint16_t version = kWireVersion;
  Verdict verdict = Verdict::kWelcome;
  Token token{};
};

using HelloBytes = std::array<std::byte, kHelloBytes>;
HelloBytes EncodeHello(const Hello& hello);
// None if these bytes are no hello at all.
std::optional<Hello> DecodeHello(std::span<const std::byte, kHelloBytes> bytes);

enum class OpKind : uint8_t { kSend = 1, kWrite = 2, kReadRequest = 3, kReadResponse = 4 };

// Operation header, 32 bytes: magic u32, kind u8, zero u8[3], payload_bytes u32, key u32, address
// u64, work u64. It is followed by a frame (all zero for reads) and then by payload_bytes of
// payload (none for requests).
inline constexpr size_t kOpHeaderBytes = 32;
inline constexpr size_t kPreambleBytes = kOpHeaderBytes + kFrameBytes;
inline constexpr uint32_t kOpMagic = 0x504f4454;  // "TDOP"

struct OpHeader {
  OpKind kind = OpKind::kSend;
  uint32_t payload_bytes = 0;
  uint32_t key = 0;
  uint64_t address = 0;
  uint64_t work = 0;
};

void EncodeOpHeader(const OpHeader& header, std::span<std::byte, kOpHeaderBytes> bytes);
std::optional<OpHeader> DecodeOpHeader(std::span<const std::byte, kOpHeaderBytes> bytes);

}  // namespace tapedeck::dataplane::tcp
