// What sessions over TCP are compared with: two threads for each connection, one that sends blocks
// by sendmsg and one that receives them by recvmsg and computes their CRC32C. No frames, no
// acknowledgements, no session.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tapedeck::bench {

struct BareRun {
  std::vector<std::string> addresses;  // IPv4, one for each rail
  uint32_t connections = 1;            // of each
  uint64_t block_bytes = 1 << 20;
  double seconds = 4;
  bool crc = true;
  // Memory that is sent from and received into, block after block, over all connections; 0: 8 MiB
  // of each, which stay in a cache.
  uint64_t from_bytes = 0;
  uint64_t into_bytes = 0;
};

// MB/s, 10^6 bytes, over all connections; of the time that was asked for, without its beginning.
absl::StatusOr<double> RunBare(const BareRun& run);

}  // namespace tapedeck::bench
