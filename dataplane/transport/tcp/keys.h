// The keys of an encrypted connection: AES-128-GCM for each direction. HKDF-SHA256 (RFC 5869) makes
// them from the values that the two ends exchange over the session's stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dataplane/transport/tcp/wire.h"

namespace tapedeck::dataplane::tcp {

inline constexpr size_t kSecretBytes = 32;
using Secret = std::array<uint8_t, kSecretBytes>;

// Each end brings a token of 128 random bits that it makes for one connection and never again. So
// neither end can be made to use a key twice, whatever the other sends.
struct KeyMaterial {
  Secret secret;  // of the end that listens, for this connection alone
  Token listener;
  Token caller;
};

// 128 bits of key: they cost a quarter less processor time than 256, network cards take them, too,
// and no key outlives its connection. Initial vector and record number count up from here in the
// kernel.
struct DirectionKeys {
  std::array<uint8_t, 16> key;
  std::array<uint8_t, 4> salt;
  std::array<uint8_t, 8> iv;
  bool operator==(const DirectionKeys&) const = default;
};

struct ConnectionKeys {
  DirectionKeys send;
  DirectionKeys receive;
};

enum class Side { kListener, kCaller };

// Of the end that is `own`: what it sends with, the other receives with. INTERNAL if the library
// fails.
absl::StatusOr<ConnectionKeys> DeriveKeys(const KeyMaterial& material, Side own);

// Fills `out`, at most 255 × 32 bytes. INTERNAL if the library fails.
absl::Status HkdfSha256(std::span<const uint8_t> secret, std::span<const uint8_t> salt,
                        std::span<const uint8_t> info, std::span<uint8_t> out);

}  // namespace tapedeck::dataplane::tcp
