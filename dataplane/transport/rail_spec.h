// A rail as the command line has it: NAME=KIND:ADDRESS[:PORT], e.g. r0=tcp:127.0.0.1. Where
// addresses are given out when a machine or a container starts, %INTERFACE stands for one, e.g.
// r0=tcp:%eth0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace tapedeck::dataplane {

class PeerCopies;

// As much as peers take.
inline constexpr size_t kMaxRailNameBytes = 63;
inline constexpr size_t kMaxRailAddressBytes = 64;

// PORT is the listener's on a storage node; 0 or absent lets the system choose.
struct RailSpec {
  std::string name;  // 1 to 63 of [A-Za-z0-9._-]
  std::string kind;
  std::string address;
  std::string interface;  // named in the place of the address, which is empty then
  uint16_t port = 0;
  // Whether peers connect to this rail (storage node) or it connects to them (worker). Set by the
  // program.
  bool listen = false;
  // Whether its connections are encrypted. Set by the program.
  bool tls = false;
  // Of the program, for kind ipc; outlives the rail. Null: it has none. Set by the program.
  PeerCopies* copies = nullptr;
};

// INVALID_ARGUMENT says what is wrong with `text`.
absl::StatusOr<RailSpec> ParseRailSpec(const std::string& text);

}  // namespace tapedeck::dataplane
